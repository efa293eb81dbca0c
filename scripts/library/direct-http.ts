import type { Plugin } from "esbuild";

/**
 * An ES import of node:http evaluates all its exports, including WebSocket and so undici: 45 ms of every start.
 * `require` does not.
 */
export const directHttp: Plugin = {
  name: "direct-http",
  setup(bundle) {
    bundle.onResolve({ filter: /^(node:)?http$/ }, () => ({ path: "node:http", namespace: "direct" }));
    bundle.onLoad({ filter: /.*/, namespace: "direct" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
