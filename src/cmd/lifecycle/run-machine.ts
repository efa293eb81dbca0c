/** A machine that joined a cluster, in this process: shows each phase, then runs until a signal or its removal. */
import { ClusterError, contextName, type DataDir, type JoinRequest, nodeTools, workerTools } from "#cluster";
import { type OutsideOptions, outsideFrom } from "../options/outside.ts";
import {
  machineCommands,
  nodeMounts,
  ownTerminal,
  type RealNodesFlagOptions,
  realNodesObstacle,
} from "../options/real-nodes.ts";
import { openTerminal, startOrFail } from "./foreground.ts";
import { residentMb } from "./terminal.ts";

export interface MachineOptions
  extends OutsideOptions,
    Pick<RealNodesFlagOptions, "yes" | "nodeMount" | "nodeLoopDevices"> {}

/** `request`: undefined where the machine has joined before. */
export async function runMachine(
  dir: DataDir,
  options: MachineOptions,
  request: JoinRequest | undefined,
): Promise<void> {
  const why = await realNodesObstacle(options, ownTerminal(), await nodeTools());
  if (why !== undefined) throw new ClusterError(why);
  const { nodeMount = [], nodeLoopDevices } = options;
  const mounts = nodeMount.length === 0 ? undefined : await nodeMounts(nodeMount);
  const outside = outsideFrom(options, process.env) ?? true;
  const { clock, log, reporter } = openTerminal();
  const environment = { clock, log, progress: reporter.step };
  const node = { ...machineCommands(), mounts, opensLoops: nodeLoopDevices };
  const { startWorker } = await workerTools();
  const started = await startOrFail(reporter, "the node", () =>
    startWorker({ dir, node, outside, request }, environment),
  );
  if (started === undefined) return;
  const { running: worker, signalled } = started;
  const { record, kubeconfig, notes } = worker;
  const readyMs = clock.now() - performance.timeOrigin;
  log.info("ready", { readyMs: Math.round(readyMs), node: record.nodeName, cluster: record.clusterName });
  const url = `https://${record.endpoint}`;
  reporter.ready(
    {
      cluster: { url, kubeconfig, mergedInto: undefined, context: contextName(dir.name) },
      nodes: { kind: "joined", count: 1, pulls: outside },
      notes,
      readyMs,
      residentMb: residentMb(),
    },
    undefined,
  );
  const end = await Promise.race([signalled, worker.removed.then(() => "removed" as const)]);
  log.info("stopping", { because: end });
  reporter.stopping();
  // A second Ctrl-C always ends the process, even if stopping hangs.
  process.once("SIGINT", () => process.exit(130));
  await worker.stop({ keepNodes: end === "SIGTERM" });
  if (end === "removed") log.warn("the node was removed from its cluster; `k8ts reset` deletes what is left here");
  reporter.stopped();
}
