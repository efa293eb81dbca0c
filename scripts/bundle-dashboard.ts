/**
 * Builds the dashboard's page into dist/dashboard: scripts and styles with hashed names, and the page that refers to
 * them.
 *
 * 1. Safe under a running dashboard: files are only added, the page is replaced at the end, atomically.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

/** Earlier builds are kept for pages that are still open. */
const KEPT_FILES = 200;

export async function bundleDashboard(root: string): Promise<void> {
  const web = join(root, "src/dashboard/web");
  const dist = join(root, "dist/dashboard");
  const { outputFiles } = await build({
    entryPoints: { page: join(web, "main.tsx") },
    outdir: dist,
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  const html = await readFile(join(web, "index.html"), "utf8");
  const named = (end: string) =>
    outputFiles.map(({ path }) => basename(path)).find((name) => name.startsWith("page-") && name.endsWith(end)) ?? "";
  await mkdir(dist, { recursive: true });
  for (const { path, contents } of outputFiles) await writeFile(path, contents);
  const page = join(dist, `index.html.${process.pid}`);
  await writeFile(
    page,
    html.replace("{{style}}", `assets/${named(".css")}`).replace("{{script}}", `assets/${named(".js")}`),
  );
  await rename(page, join(dist, "index.html"));
  await removeOld(dist, new Set(["index.html", ...outputFiles.map(({ path }) => basename(path))]));
}

async function removeOld(dist: string, current: ReadonlySet<string>): Promise<void> {
  const old = (await readdir(dist)).filter((name) => !current.has(name));
  if (old.length <= KEPT_FILES) return;
  for (const name of old) await rm(join(dist, name), { force: true });
}
