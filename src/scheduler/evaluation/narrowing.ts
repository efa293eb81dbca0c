/** The intersection of the nodes that plugins named as the only ones that can fit. */
import type { NodeSubset, Prepared, Rejection, Rejections } from "../framework/index.ts";

export interface Narrowed {
  /** Undefined: all nodes. */
  readonly names: ReadonlySet<string> | undefined;
  readonly plugins: readonly string[];
  /** The intersection is empty. */
  readonly rejection: Rejection | undefined;
}

export const ALL_NODES: Narrowed = { names: undefined, plugins: [], rejection: undefined };

export function narrowed(
  parts: readonly { readonly name: string; readonly prepared: Prepared<unknown> }[],
  rejections: Rejections,
): Narrowed {
  let names: ReadonlySet<string> | undefined;
  const plugins: string[] = [];
  for (const { name, prepared } of parts) {
    if (prepared.kind !== "ready" || prepared.nodes === undefined) continue;
    plugins.push(name);
    names = names === undefined ? prepared.nodes : names.intersection(prepared.nodes);
  }
  if (names === undefined) return ALL_NODES;
  plugins.sort();
  return { names, plugins, rejection: names.size > 0 ? undefined : nothingLeft(plugins, rejections) };
}

/** Leaves only nodes of the subset. */
export function restricted(given: Narrowed, subset: NodeSubset | undefined, rejections: Rejections): Narrowed {
  if (subset === undefined) return given;
  const names = given.names === undefined ? subset.names : given.names.intersection(subset.names);
  const rejection = names.size > 0 ? undefined : rejections.unresolvable(subset.reason);
  return { ...given, names, rejection: given.rejection ?? rejection };
}

export function isNarrowing(prepared: Prepared<unknown>): boolean {
  return prepared.kind === "ready" && prepared.nodes !== undefined;
}

function nothingLeft(plugins: readonly string[], rejections: Rejections): Rejection {
  return rejections.unresolvable(
    plugins.length === 1
      ? `node(s) didn't satisfy plugin ${plugins[0]}`
      : `node(s) didn't satisfy plugin(s) ${goList(plugins)} simultaneously`,
  );
}

/** Formats a list like Go's %v. */
export function goList(names: readonly string[]): string {
  return `[${names.join(" ")}]`;
}
