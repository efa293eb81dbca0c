/**
 * Storage in the API server's process: default objects, snapshots, and the sidecars of the driver local.csi.k8ts.dev.
 *
 *     claims --► sidecars ──► real nodes: the driver's socket on each node
 *                         └── simulated nodes: a driver in memory for each
 *
 * 1. It is loaded in the background, and starts after the nodes: they are ready without it.
 * 2. Another process that works as a sidecar of the driver does so instead of this one.
 */
import { kinds, type storage } from "#api";
import { type Clock, type Logger, MetricsRegistry, type Random, TaskGroup } from "#base";
import { Client, Informer, type InProcessHandle, inProcess } from "#client";
import { CallLog, controllerMetrics } from "#controllers";
import type { DriverControllers, Sidecar } from "#storage";
import type { NodesConfig } from "../config/cluster-config.ts";
import { simulatedNames } from "./simulated-nodes.ts";
import { simulatedDrivers } from "./simulated-storage.ts";
import { runSnapshots } from "./snapshots.ts";

const ADMIN = { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
/** Registers simulated nodes, as their kubelets would. */
const REGISTRAR = "simulated-driver-registrar";

export interface InProcessStorageOptions {
  readonly handle: InProcessHandle;
  /** Others may work on the same store. */
  readonly elects: boolean;
  /** Simulated nodes; undefined: nodes are real. */
  readonly nodes: NodesConfig | undefined;
  /** The controllers of a driver that runs on each real node, by their CSINodes. */
  onRealNodes(facts: RealNodeFacts): Promise<DriverControllers & { close(): void }>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For the durations of snapshots. Default: they are not counted. */
  readonly metrics?: MetricsRegistry | undefined;
}

export interface RealNodeFacts {
  readonly driverName: string;
  readonly topologyKey: string;
  readonly csiNodes: Informer<storage.CSINode>;
}

/** Until the signal aborts. */
export async function runStorage(options: InProcessStorageOptions, signal: AbortSignal): Promise<void> {
  const { handle, elects, clock, random } = options;
  const log = options.log.child({ component: "storage" });
  const { ACCOUNT_NAMESPACE, ensureDefaultObjects, READER_ACCOUNT, recordedControllers, runSidecars, sidecarsOf } =
    await import("#storage");
  await using parts = new AsyncDisposableStack();
  const clientOf = (user: { readonly name: string; readonly groups: readonly string[] }, userAgent: string) => {
    const client = new Client({ transport: inProcess(handle, user), clock, userAgent });
    parts.defer(() => client.close());
    return client;
  };
  const accountClient = (account: string) => {
    if (account === REGISTRAR) return clientOf(ADMIN, REGISTRAR);
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${ACCOUNT_NAMESPACE}`, "system:authenticated"];
    return clientOf({ name: `system:serviceaccount:${ACCOUNT_NAMESPACE}:${account}`, groups }, account);
  };
  // Its permissions come first: without them it cannot watch.
  await ensureDefaultObjects(clientOf(ADMIN, "k8ts"), { signal });
  const client = accountClient(READER_ACCOUNT);
  const tasks = new TaskGroup({ parent: signal });
  parts.defer(() => tasks.stop());
  const calls = new CallLog(clock);
  const { drivers: reached, registration } =
    options.nodes === undefined
      ? await realDrivers(options, client, tasks, parts)
      : await simulated(simulatedNames(options.nodes), options, clientOf(ADMIN, "k8ts"), signal);
  const drivers = recordedControllers(reached, calls);
  tasks.run("snapshots", (running) => runSnapshots({ ...options, drivers, calls, log }, running));
  const [first, ...others] = sidecarsOf(drivers, {
    provisioner: { settings: { strictTopology: true } },
    capacity: {},
    health: { watchesNodes: true },
  });
  const own = first && { ...first, controllers: [...first.controllers, ...registration] };
  await runSidecars(
    {
      sidecars: [own, ...others].filter((sidecar): sidecar is Sidecar => sidecar !== undefined),
      client,
      clientOf: accountClient,
      ...(elects && { elects: { namespace: ACCOUNT_NAMESPACE } }),
      clock,
      random,
      log,
      metrics: controllerMetrics(new MetricsRegistry()),
      calls,
    },
    signal,
  );
}

interface Drivers {
  readonly drivers: DriverControllers;
  readonly registration: Sidecar["controllers"];
}

async function simulated(
  names: readonly string[],
  { clock }: InProcessStorageOptions,
  client: Client,
  signal: AbortSignal,
): Promise<Drivers> {
  const { DRIVER_NAME, simulatedRegistration, TOPOLOGY_KEY } = await import("#storage");
  const known = new Set(names);
  const facts = { driverName: DRIVER_NAME, topologyKey: TOPOLOGY_KEY, account: REGISTRAR };
  return {
    drivers: await simulatedDrivers(names, { client, clock }, signal),
    registration: [simulatedRegistration({ ...facts, isSimulated: (name) => known.has(name) })],
  };
}

async function realDrivers(
  { onRealNodes, clock, random, log }: InProcessStorageOptions,
  client: Client,
  tasks: TaskGroup,
  parts: AsyncDisposableStack,
): Promise<Drivers> {
  const { DRIVER_NAME, TOPOLOGY_KEY } = await import("#storage");
  const csiNodes = new Informer<storage.CSINode>({ client: client.of(kinds.CSINode), clock, random, log });
  tasks.run("CSINodes", (running) => csiNodes.run(running));
  await csiNodes.synced;
  const drivers = await onRealNodes({ driverName: DRIVER_NAME, topologyKey: TOPOLOGY_KEY, csiNodes });
  parts.defer(() => drivers.close());
  return { drivers, registration: [] };
}
