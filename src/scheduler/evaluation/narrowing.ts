/** The nodes that plugins have named as the only ones that can fit, put together. */
import { type Prepared, type Rejection, rejectionsOf } from "../framework/index.ts";

const framework = rejectionsOf("");

export interface Narrowed {
  /** Undefined: all. */
  readonly names: ReadonlySet<string> | undefined;
  readonly plugins: readonly string[];
  /** They have none in common. */
  readonly rejection: Rejection | undefined;
}

export const ALL_NODES: Narrowed = { names: undefined, plugins: [], rejection: undefined };

export function narrowed(parts: readonly { readonly name: string; readonly prepared: Prepared<unknown> }[]): Narrowed {
  let names: ReadonlySet<string> | undefined;
  const plugins: string[] = [];
  for (const { name, prepared } of parts) {
    if (prepared.kind !== "ready" || prepared.nodes === undefined) continue;
    plugins.push(name);
    names = names === undefined ? prepared.nodes : names.intersection(prepared.nodes);
  }
  if (names === undefined) return ALL_NODES;
  plugins.sort();
  return { names, plugins, rejection: names.size > 0 ? undefined : nothingLeft(plugins) };
}

export function isNarrowing(prepared: Prepared<unknown>): boolean {
  return prepared.kind === "ready" && prepared.nodes !== undefined;
}

function nothingLeft(plugins: readonly string[]): Rejection {
  return framework.unresolvable(
    plugins.length === 1
      ? `node(s) didn't satisfy plugin ${plugins[0]}`
      : `node(s) didn't satisfy plugin(s) ${goList(plugins)} simultaneously`,
  );
}

/** As the original prints a list. */
export function goList(names: readonly string[]): string {
  return `[${names.join(" ")}]`;
}
