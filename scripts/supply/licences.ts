/** Which licences packages may have, as SPDX expressions. */

/** They ask for their text and name to be kept, and for nothing of the code that uses them. */
const PERMISSIVE = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/**
 * Fine for tools that nobody ships: changes to their own files have to be published (MPL), data have to be credited
 * (CC-BY); BlueOak is permissive, and nothing that is shipped needs it.
 */
const TOOLS_ONLY = new Set(["BlueOak-1.0.0", "CC-BY-4.0", "MPL-2.0"]);

/** Whether a package with this licence may be used. `isShipped`: it reaches users of k8ts. */
export function isAllowed(expression: string, { isShipped }: { readonly isShipped: boolean }): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;

  /** `A OR B AND C`: AND binds tighter. */
  const either = (): boolean => {
    let allowed = both();
    while (tokens[at] === "OR") {
      at += 1;
      const other = both();
      allowed ||= other;
    }
    return allowed;
  };
  const both = (): boolean => {
    let allowed = one();
    while (tokens[at] === "AND") {
      at += 1;
      const other = one();
      allowed &&= other;
    }
    return allowed;
  };
  const one = (): boolean => {
    const token = tokens[at++] ?? "";
    if (token !== "(") return PERMISSIVE.has(token) || (!isShipped && TOOLS_ONLY.has(token));
    const allowed = either();
    return tokens[at++] === ")" && allowed;
  };

  const allowed = either();
  // What is left over, such as an exception (WITH), is not known here.
  return allowed && at === tokens.length;
}
