/**
 * The network of a node with 10,000 Services of 5 endpoints each: how long the kernel takes to be told of all of them
 * and of one change, and what memory that takes; what Services add to the making of a connection; how many DNS
 * questions are answered.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { latency } from "./network/latency.ts";
import { questions } from "./network/questions.ts";
import { MODES, type Mode } from "./network/services.ts";
import type { Figure } from "./run.ts";

const execute = promisify(execFile);

export async function run(report: (figure: Figure) => void): Promise<void> {
  if (process.getuid?.() === 0) {
    for (const mode of MODES) await syncs(mode, report);
    for (const mode of MODES) await latency(mode, report);
  } else console.log("  Services are left out: only root may make namespaces.");
  await questions(report);
}

async function syncs(mode: Mode, report: (figure: Figure) => void): Promise<void> {
  const namespace = `k8ts-bench-${process.pid}`;
  await execute("ip", ["netns", "add", namespace]);
  try {
    const program = join(import.meta.dirname, "network/sync.ts");
    const { stdout } = await execute(process.execPath, ["--expose-gc", program, mode, namespace]);
    for (const figure of JSON.parse(stdout) as readonly Figure[]) report(figure);
  } finally {
    await execute("ip", ["netns", "del", namespace]);
  }
}
