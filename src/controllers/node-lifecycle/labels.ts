/** Deprecated node labels, kept equal to their successors. */
import type { Node } from "./conditions.ts";

const SUCCESSORS = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

/** The labels to write; undefined if none. */
export function correctedLabels({ metadata: { labels = {} } }: Node): Readonly<Record<string, string>> | undefined {
  const wrong = SUCCESSORS.flatMap(([now, before]) => {
    const value = labels[now];
    return value === undefined || labels[before] === value ? [] : [[before, value] as const];
  });
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
}
