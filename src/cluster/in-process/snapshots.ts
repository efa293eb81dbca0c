/**
 * Snapshots in the API server's process: their definitions and default class, the snapshot controller for all drivers,
 * and the snapshotter of the driver that this process works for.
 *
 * 1. It is loaded in the background, after the nodes: nothing waits for it.
 * 2. What exists is left as it is; another installation that holds the leases works instead.
 */
import { hostname } from "node:os";
import { type Clock, type Logger, MetricsRegistry, type Random, TaskGroup } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import { type CallLog, controllerMetrics } from "#controllers";
import type { DriverControllers } from "#storage";

const ADMIN = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
const NAMESPACE = "kube-system";

export interface InProcessSnapshotsOptions {
  readonly handle: InProcessHandle;
  /** Others may work on the same store. */
  readonly elects: boolean;
  readonly drivers: DriverControllers;
  /** With which the calls to the drivers are recorded. */
  readonly calls?: CallLog | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For the durations of snapshots. Default: they are not counted. */
  readonly metrics?: MetricsRegistry | undefined;
}

/** Until the signal aborts. */
export async function runSnapshots(options: InProcessSnapshotsOptions, signal: AbortSignal): Promise<void> {
  const { handle, elects, drivers, clock, random, log, calls, metrics: registry } = options;
  const { CONTROLLER_ACCOUNT, installSnapshots, runSnapshotController, runSnapshotter, SNAPSHOTTER_ACCOUNT } =
    await import("#storage");
  await using parts = new AsyncDisposableStack();
  const clientOf = (user: { readonly name: string; readonly groups: readonly string[] }, userAgent: string) => {
    const client = new Client({ transport: inProcess(handle, user), clock, userAgent });
    parts.defer(() => client.close());
    return client;
  };
  const accountClient = (account: string) => {
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
    return clientOf({ name: `system:serviceaccount:${NAMESPACE}:${account}`, groups }, account);
  };
  try {
    // Permissions and kinds come first: without them, nothing can be watched.
    await installSnapshots(clientOf(ADMIN, "k8ts"), drivers.driverName, signal);
    const tasks = new TaskGroup({ parent: signal });
    const metrics = controllerMetrics(new MetricsRegistry());
    const shared = { instance: hostname(), clock, random, metrics, elects, calls };
    const controller = { ...shared, client: accountClient(CONTROLLER_ACCOUNT), registry };
    const snapshotter = {
      ...shared,
      client: accountClient(SNAPSHOTTER_ACCOUNT),
      snapshotter: { controllers: drivers },
    };
    tasks.run("snapshot controller", (running) =>
      runSnapshotController({ ...controller, log: log.child({ component: "snapshot-controller" }) }, running),
    );
    tasks.run("csi-snapshotter", (running) =>
      runSnapshotter({ ...snapshotter, log: log.child({ component: "csi-snapshotter" }) }, running),
    );
    await tasks.done();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
