/**
 * Bundles src/cmd into dist/: one entry that starts in tens of milliseconds, with chunks that are loaded on demand; one
 * for the processes of a node, which load only what they use, and one for the thread that writes the audit log.
 *
 * 1. Safe to run twice at once and under a running k8ts: chunks have hashed names and are added; entries are replaced
 *    atomically. Chunks of earlier builds go once nobody can need them: see `stale-chunks.ts`.
 */
import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type OutputFile, type Plugin } from "esbuild";
import { bundleDashboard } from "./bundle-dashboard.ts";
import { directHttp } from "./library/direct-http.ts";
import { removeStale } from "./stale-chunks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const NODE_AGENT = "node-agent";
const AUDIT_LOG = "audit-log-worker";
const SERVING_THREAD = "serving-thread";
const HEAVY = "heavy-thread";
/** Found by name at run time. */
const OWN_NAMES: ReadonlySet<string> = new Set([NODE_AGENT, AUDIT_LOG, HEAVY]);

const OPTIONS = {
  outdir: dist,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  write: false,
  minifySyntax: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // lmdb finds its binary next to itself; the others are CommonJS with dynamic requires.
  external: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"],
  banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
} as const satisfies BuildOptions;

/** A separate program; its `import()`s are separate programs too, if they are listed here. */
async function buildAlone(name: string, file: string, parts: ReadonlyMap<string, string> = new Map()) {
  const apart: Plugin = {
    name: "apart",
    setup(bundle) {
      for (const [source, part] of parts) {
        // Each callback is a round trip to the builder's process: the filter limits them to a few names.
        const filter = new RegExp(`/${basename(source, ".ts")}\\.ts$`);
        bundle.onResolve({ filter }, ({ path, resolveDir, kind }) =>
          kind === "dynamic-import" && join(resolveDir, path) === source
            ? { path: `./${part}`, external: true }
            : undefined,
        );
      }
    },
  };
  const { outputFiles: files } = await build({
    ...OPTIONS,
    entryPoints: { [name]: join(root, file) },
    entryNames: OWN_NAMES.has(name) ? "[name]" : "chunk-[hash]",
    plugins: [directHttp, apart],
  });
  return files;
}

/** Node commands, each bundled with only what it uses. Shared chunks would contain what any of them uses. */
async function buildNodeAgent(): Promise<OutputFile[]> {
  const nameOf = (files: readonly OutputFile[]) => basename(files[0]?.path ?? "");
  const at = (file: string) => join(root, file);
  const manifest = await buildAlone("manifest", "src/kubelet/pods/sources/manifest.ts");
  const lazy = new Map([[at("src/kubelet/pods/sources/manifest.ts"), nameOf(manifest)]]);
  const [kubelet, proxy, ingress, csiDriver] = await Promise.all([
    buildAlone("node-kubelet", "src/cmd/components/node-kubelet.ts", lazy),
    buildAlone("node-proxy", "src/cmd/components/node-proxy.ts"),
    buildAlone("node-ingress", "src/cmd/components/node-ingress.ts"),
    buildAlone("node-csi-driver", "src/cmd/components/node-csi-driver.ts"),
  ]);
  const commands = new Map([
    [at("src/cmd/components/node-kubelet.ts"), nameOf(kubelet)],
    [at("src/cmd/components/node-proxy.ts"), nameOf(proxy)],
    [at("src/cmd/components/node-ingress.ts"), nameOf(ingress)],
    [at("src/cmd/components/node-csi-driver.ts"), nameOf(csiDriver)],
  ]);
  return [
    ...manifest,
    ...kubelet,
    ...proxy,
    ...ingress,
    ...csiDriver,
    ...(await buildAlone(NODE_AGENT, "src/cmd/components/node-agent.ts", commands)),
  ];
}

const started = new Date();
const dashboard = bundleDashboard(root);
const [whole, agent, auditLog, heavy] = await Promise.all([
  build({
    ...OPTIONS,
    entryPoints: { k8ts: join(root, "src/cmd/main.ts"), [SERVING_THREAD]: join(root, "src/cluster/serving-thread.ts") },
    chunkNames: "chunk-[hash]",
    splitting: true,
    plugins: [directHttp],
  }),
  buildNodeAgent(),
  buildAlone(AUDIT_LOG, "src/apiserver/audit/log-worker.ts"),
  buildAlone(HEAVY, "src/apiserver/heavy/thread.ts"),
]);
const outputFiles = [...whole.outputFiles, ...agent, ...auditLog, ...heavy];

// The entry is written after the page: it marks the build as complete.
await dashboard;
await mkdir(dist, { recursive: true });
/** The last one marks the build as complete. */
const names = [NODE_AGENT, AUDIT_LOG, HEAVY, SERVING_THREAD, "k8ts"];
const entries = names.map((name) => join(dist, `${name}.mjs`));
for (const file of outputFiles) {
  const path = entries.includes(file.path) ? `${file.path}.${process.pid}` : file.path;
  await writeFile(path, file.contents);
}
for (const entry of entries) {
  // Dated at the start of the build, so that a source saved meanwhile counts as newer.
  await utimes(`${entry}.${process.pid}`, started, started);
  await rename(`${entry}.${process.pid}`, entry);
}

const current = new Set(outputFiles.map((file) => basename(file.path)));
await removeStale(dist, current, started.getTime());
