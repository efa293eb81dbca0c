/**
 * Bundles src/cmd into dist/: one entry that starts in a few tens of milliseconds, and chunks that load when first needed.
 *
 * 1. Safe to run twice at once and under a running k8ts: chunks have hashed names and are only added; the entry is replaced atomically.
 */
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const STALE_MS = 24 * 3600 * 1000;

/** An import of node:http as an ES module makes all that it exports, WebSocket and with it undici too: 45 ms of every start. Asked for directly, it does not. */
const directHttp: Plugin = {
  name: "direct-http",
  setup(bundle) {
    bundle.onResolve({ filter: /^(node:)?http$/ }, () => ({ path: "node:http", namespace: "direct" }));
    bundle.onLoad({ filter: /.*/, namespace: "direct" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

const started = new Date();
const { outputFiles } = await build({
  entryPoints: { k8ts: join(root, "src/cmd/main.ts") },
  outdir: dist,
  outExtension: { ".js": ".mjs" },
  chunkNames: "chunk-[hash]",
  bundle: true,
  splitting: true,
  write: false,
  minifySyntax: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // lmdb finds its binary beside itself; the others are CommonJS with dynamic requires of their own.
  external: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"],
  plugins: [directHttp],
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
});

await mkdir(dist, { recursive: true });
const entry = join(dist, "k8ts.mjs");
for (const file of outputFiles) {
  const path = file.path === entry ? `${entry}.${process.pid}` : file.path;
  await writeFile(path, file.contents);
}
// Dated at the start of the build, so that a source saved meanwhile counts as newer.
await utimes(`${entry}.${process.pid}`, started, started);
await rename(`${entry}.${process.pid}`, entry);

const current = new Set(outputFiles.map((file) => basename(file.path)));
for (const name of await readdir(dist)) {
  if (current.has(name)) continue;
  const path = join(dist, name);
  const age = await stat(path).then(
    (info) => started.getTime() - info.mtimeMs,
    () => 0,
  );
  if (age > STALE_MS) await rm(path, { force: true });
}
