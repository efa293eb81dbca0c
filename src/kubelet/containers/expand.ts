/**
 * $(NAME) in commands, arguments and environment variables.
 *
 * 1. `$$` is a dollar sign, so `$$(NAME)` is never expanded.
 * 2. References to unknown names stay as written.
 */

export type Lookup = (name: string) => string | undefined;

export function expand(text: string, lookup: Lookup): string {
  return expandAll(text, lookup).text;
}

/** Also returns the unknown names. */
export function expandAll(
  text: string,
  lookup: Lookup,
): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const expanded = text.replace(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) => {
    if (name === undefined) return "$";
    const value = lookup(name);
    if (value === undefined) missing.push(name);
    return value ?? match;
  });
  return { text: expanded, missing };
}
