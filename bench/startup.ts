/**
 * How long `k8ts up --detach` takes by the server's own clock and by the caller's, and what the idle process holds in
 * memory.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figure } from "./run.ts";

const ROUNDS = 5;
const k8ts = join(import.meta.dirname, "..", "bin", "k8ts");

export async function run(report: (figure: Figure) => void): Promise<void> {
  for (const store of ["memory", "embedded"]) {
    const rounds = Array.from({ length: ROUNDS }, () => round(store));
    report({ name: `${store}: ready, the server's own time`, value: median(rounds.map((r) => r.readyMs)), unit: "ms" });
    report({
      name: `${store}: \`up --detach\` returns after`,
      value: median(rounds.map((r) => r.returnedMs)),
      unit: "ms",
    });
    report({
      name: `${store}: second start on the same data`,
      value: median(rounds.map((r) => r.againMs)),
      unit: "ms",
    });
    report({ name: `${store}: resident when ready`, value: median(rounds.map((r) => r.residentMb)), unit: "MB" });
  }
  const bare = Array.from({ length: ROUNDS }, () => timed(() => spawnSync(process.execPath, ["-e", "0"])).ms);
  report({ name: "a bare Node process, start to end", value: median(bare), unit: "ms" });
}

function round(store: string): { readyMs: number; returnedMs: number; againMs: number; residentMb: number } {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-bench-"));
  try {
    const up = () => timed(() => call("up", "--store", store, "--port", "0", "--nodes", "0", "--detach"));
    const call = (...args: string[]) => {
      const env = { ...process.env, KUBECONFIG: join(dir, "merged") };
      const result = spawnSync(k8ts, [...args, "--data-dir", join(dir, "data")], { encoding: "utf8", env });
      if (result.status !== 0) throw new Error(`k8ts ${args.join(" ")}: ${result.stderr}`);
    };
    const first = up();
    call("down");
    up();
    call("down");
    const [one, two] = readFileSync(join(dir, "data", "k8ts.log"), "utf8")
      .split("\n")
      .filter((line) => line.includes('"ready"'))
      .map((line) => JSON.parse(line) as { readyMs: number; residentMb: number });
    if (one === undefined || two === undefined) throw new Error("the log does not say when the cluster was ready");
    return { readyMs: one.readyMs, returnedMs: first.ms, againMs: two.readyMs, residentMb: one.residentMb };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function timed(work: () => unknown): { ms: number } {
  const start = performance.now();
  work();
  return { ms: performance.now() - start };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
