/**
 * What the resource metrics API costs for 1,000 nodes with 30 Pods each: memory and processor time of its process for
 * each node. Kubelets answer over TLS from another process.
 *
 * 1. The bounds are those that metrics-server publishes for each node: 2 MB and a thousandth of a core.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Asked } from "./metrics/fleet.ts";
import type { Cost } from "./metrics/server.ts";
import type { Figure } from "./run.ts";

const ASKED: Asked = { nodes: 1_000, podsEach: 30, port: 10_250 };
const MB_EACH = 2;
const MILLI_EACH = 1;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const start = (file: string) => fork(join(import.meta.dirname, "metrics", file));
  const kubelets = start("kubelets.ts");
  try {
    kubelets.send(ASKED);
    await once(kubelets, "message");
    const server = start("server.ts");
    server.send(ASKED);
    const ended = once(server, "exit").then(([code]) => {
      throw new Error(`the metrics server ended with ${code}`);
    });
    const [cost] = (await Promise.race([once(server, "message"), ended])) as [Cost];
    ended.catch(() => {});
    const { idleMb, residentMb, processorSeconds, seconds, shown } = cost;
    const milli = (processorSeconds * 1000) / seconds;
    report({ name: "nodes with figures", value: shown.nodes, unit: "" });
    report({ name: "Pods with figures", value: shown.pods, unit: "" });
    report({ name: "resident before the first round", value: idleMb, unit: "MB" });
    report({ name: "resident", value: residentMb, unit: "MB" });
    report({ name: "memory for each node", value: residentMb / ASKED.nodes, unit: "MB", bound: MB_EACH });
    report({ name: "processor time for each node", value: milli / ASKED.nodes, unit: "m", bound: MILLI_EACH });
  } finally {
    kubelets.kill("SIGKILL");
  }
}
