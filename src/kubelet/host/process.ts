/** The kubelet as a process of its machine: its score when memory is full, and the kernel as Kubernetes expects it. */
import { readFile, writeFile } from "node:fs/promises";

/** Kernel flags and their values, as Kubernetes expects them. */
const KERNEL: readonly (readonly [flag: string, value: number])[] = [
  ["vm/overcommit_memory", 1],
  ["vm/panic_on_oom", 0],
  ["kernel/panic", 10],
  ["kernel/panic_on_oops", 1],
  ["kernel/keys/root_maxkeys", 1_000_000],
  ["kernel/keys/root_maxbytes", 25_000_000],
];

export interface ProcessSettings {
  readonly oomScoreAdj?: number | undefined;
  readonly protectKernelDefaults: boolean;
}

/** Throws Error if the kernel is set otherwise and that matters. */
export async function settleProcess(
  { oomScoreAdj, protectKernelDefaults }: ProcessSettings,
  read: (path: string) => Promise<string> = (path) => readFile(path, "utf8"),
): Promise<void> {
  if (oomScoreAdj !== undefined) await writeFile("/proc/self/oom_score_adj", String(oomScoreAdj));
  if (!protectKernelDefaults) return;
  const problems: string[] = [];
  for (const [flag, expected] of KERNEL) {
    const actual = Number((await read(`/proc/sys/${flag}`)).trim());
    if (actual !== expected)
      problems.push(`invalid kernel flag: ${flag}, expected value: ${expected}, actual value: ${actual}`);
  }
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`);
}
