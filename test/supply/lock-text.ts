/** A lock file of a few packages. */
export const integrity = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;

/** `packages` by their places below node_modules; `dependencies`: the direct ones. */
export function lockText(
  packages: Readonly<Record<string, object>>,
  dependencies: Readonly<Record<string, string>> = { a: "1.0.0" },
): string {
  const placed = Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry]);
  return JSON.stringify({ lockfileVersion: 3, packages: { "": { dependencies }, ...Object.fromEntries(placed) } });
}
