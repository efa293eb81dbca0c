/** A cluster in memory with simulated nodes, in a home of its own. */
import type { Result } from "./command.ts";
import type { Home } from "./k8ts.ts";

/** Usage and autoscalers look every second or two, instead of every 15 s. */
export const QUICK_FIGURES = ["--metric-resolution", "2s", "--horizontal-pod-autoscaler-sync-period", "1s"];

/** Throws what it says if it does not start. */
export async function startSimulated(home: Home, nodes: number, ...flags: readonly string[]): Promise<Result> {
  const simulated = ["--runtime", "simulated", "--nodes", String(nodes)];
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", ...simulated, ...flags, "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
  return up;
}
