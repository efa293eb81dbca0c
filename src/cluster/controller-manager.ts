/**
 * The controller manager in the API server's process: caches as system:kube-controller-manager, and each controller as its own service account. Where other
 * processes work on the same store, only the elected one does.
 */
import { hostname } from "node:os";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import { Client, type InProcessHandle, inProcess, leadElected } from "#client";
import { allControllers, Lease, runControllers } from "#controllers";

const NAMESPACE = "kube-system";
const MANAGER = "system:kube-controller-manager";

export interface ControllerManagerOptions {
  readonly handle: InProcessHandle;
  readonly caPem: string;
  /** Others may run controllers on the same store. */
  readonly elects: boolean;
  /** As `--controllers` says it. */
  readonly selection?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Until the signal aborts. */
export async function runControllerManager(options: ControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { handle, caPem, elects, selection, clock, random, log, metrics } = options;
  const clients: Client[] = [];
  const clientOf = (name: string, groups: readonly string[]) => {
    // Whatever controller writes a field: its manager is known by this name.
    const userAgent = `kube-controller-manager/${name}`;
    const client = new Client({ transport: inProcess(handle, { name, groups }), clock, userAgent });
    clients.push(client);
    return client;
  };
  const client = clientOf(MANAGER, ["system:authenticated"]);
  const run = (running: AbortSignal) =>
    runControllers(
      {
        controllers: allControllers({ caPem }),
        ...(selection !== undefined && { selection }),
        client,
        clientOf: (account) => clientOf(`system:serviceaccount:${NAMESPACE}:${account}`, serviceAccountGroups()),
        instance: hostname(),
        clock,
        random,
        log,
        metrics,
      },
      running,
    );
  try {
    if (!elects) return await run(signal);
    const identity = `${hostname()}_${Buffer.from(random.bytes(8)).toString("hex")}`;
    const leases = client.of(Lease).in(NAMESPACE);
    await leadElected({ leases, name: "kube-controller-manager", identity, clock, random, log }, signal, run);
  } finally {
    for (const each of clients) await each.close();
  }
}

function serviceAccountGroups(): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
}
