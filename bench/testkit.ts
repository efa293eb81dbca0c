/**
 * The test kit as its users have it: bundled, in a process of its own. Times of a process that has just started
 * include compiling.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Figure } from "./run.ts";
import { envtestStory } from "./testkit/envtest.ts";

/** Each takes seconds. */
const ENVTEST_RUNS = 5;
const root = join(import.meta.dirname, "..");

export async function run(report: (figure: Figure) => void): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "k8ts-bench-"));
  try {
    symlinkSync(join(root, "node_modules"), join(work, "node_modules"));
    const program = join(work, "figures.mjs");
    await build({
      entryPoints: [join(root, "bench/testkit/figures.ts")],
      outfile: program,
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"],
      banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
    });
    const lines = execFileSync(process.execPath, ["--expose-gc", program], { encoding: "utf8" }).trim().split("\n");
    for (const line of lines) report(JSON.parse(line) as Figure);
    const runs = [];
    for (let i = 0; i < ENVTEST_RUNS; i++) runs.push(await envtestStory());
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length / 1000;
    const [ready, total] = [mean(runs.map(({ readyMs }) => readyMs)), mean(runs.map(({ totalMs }) => totalMs))];
    report({ name: "envtest's way, with bin/: a control plane is ready", value: ready, unit: "s" });
    report({ name: "envtest's way: 100 such tests (from 5)", value: 100 * total, unit: "s" });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
