/** The entries of the package, by the last part of their name in `exports` of package.json; `index` is k8ts itself. */
export const ENTRIES = {
  index: "src/library/index.ts",
  client: "src/library/client.ts",
  controllers: "src/library/controllers.ts",
  testing: "src/testing/index.ts",
} as const;

/** Built apart from the others, because browsers load it: it imports nothing of Node. */
export const BROWSER_ENTRIES = { api: "src/library/api.ts" } as const;
