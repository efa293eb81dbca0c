/** Labels of long ago that some still select by: they say what their successors say. */
import type { Node } from "./conditions.ts";

const SUCCESSORS = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

/** Those to write; undefined: none. */
export function correctedLabels({ metadata: { labels = {} } }: Node): Readonly<Record<string, string>> | undefined {
  const wrong = SUCCESSORS.flatMap(([now, before]) => {
    const value = labels[now];
    return value === undefined || labels[before] === value ? [] : [[before, value] as const];
  });
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
}
