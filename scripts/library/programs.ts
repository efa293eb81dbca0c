/**
 * The programs of the library: an ES module for each entry, with chunks that they share, for Node 22 and newer.
 * Packages that the published package depends on are loaded from where npm has put them.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { directHttp } from "./direct-http.ts";
import { BROWSER_ENTRIES, ENTRIES } from "./entries.ts";

const SHARED = {
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  chunkNames: "chunk-[hash]",
  format: "esm",
  minifySyntax: true,
} as const satisfies BuildOptions;

export async function buildPrograms(root: string, outdir: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const external = Object.keys(dependencies);
  const at = (entries: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(root, file)]));
  await build({
    ...SHARED,
    outdir,
    external,
    entryPoints: at(ENTRIES),
    platform: "node",
    target: "node22",
    plugins: [directHttp],
    inject: [join(root, "scripts/library/missing-in-node-22.ts")],
    // In bundled CommonJS only: the audit log's worker and lmdb are found beside the package.
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
  });
  await build({
    ...SHARED,
    outdir,
    // Both are plain JavaScript: browsers need no bundler to load the entry.
    external: [],
    entryPoints: at(BROWSER_ENTRIES),
    platform: "browser",
    target: ["es2024", "chrome123", "firefox120", "safari17.5", "node22"],
  });
  // The threads of the audit log and of heavy writes are programs of their own.
  await build({
    ...SHARED,
    splitting: false,
    outdir,
    external,
    entryPoints: {
      "audit-log-worker": join(root, "src/apiserver/audit/log-worker.ts"),
      "heavy-thread": join(root, "src/apiserver/heavy/thread.ts"),
    },
    platform: "node",
    target: "node22",
  });
}
