/**
 * Storage in the API server's process: default objects, snapshots, and the sidecars of the driver local.csi.k8ts.dev.
 *
 *     claims --► sidecars ──► real nodes: the driver's socket on each node
 *                         └── simulated nodes: one driver in memory
 *
 * 1. It is loaded in the background, and starts after the nodes: they are ready without it.
 * 2. Another process that works as a sidecar of the driver does so instead of this one.
 */
import { kinds, parseQuantity, scaledValue, type storage } from "#api";
import { K8TS_VERSION } from "#apiserver";
import { type Clock, type Logger, MetricsRegistry, type Random, TaskGroup, uuidSource } from "#base";
import { Client, Informer, type InProcessHandle, inProcess } from "#client";
import { controllerMetrics } from "#controllers";
import type { DriverControllers, Sidecar } from "#storage";
import type { NodesConfig } from "../config/cluster-config.ts";
import { simulatedNames } from "./simulated-nodes.ts";
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
  const { ACCOUNT_NAMESPACE, ensureDefaultObjects, READER_ACCOUNT, runSidecars, sidecarsOf } = await import("#storage");
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
  const { drivers, registration } =
    options.nodes === undefined
      ? await realDrivers(options, client, tasks, parts)
      : await simulatedDriver(options, simulatedNames(options.nodes), client, signal);
  tasks.run("snapshots", (running) => runSnapshots({ ...options, drivers, log }, running));
  const [first, ...others] = sidecarsOf(drivers, {
    provisioner: { settings: { strictTopology: true } },
    capacity: {},
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
    },
    signal,
  );
}

interface Drivers {
  readonly drivers: DriverControllers;
  readonly registration: Sidecar["controllers"];
}

async function simulatedDriver(
  { clock }: InProcessStorageOptions,
  names: readonly string[],
  client: Client,
  signal: AbortSignal,
): Promise<Drivers> {
  const { DRIVER_NAME, memoryStorage, nodeOfVolume, oneForAll, simulatedRegistration, TOPOLOGY_KEY } = await import(
    "#storage"
  );
  const known = new Set(names);
  const newId = uuidSource();
  const storage = memoryStorage({ version: K8TS_VERSION, clock, newId, nodes: () => names });
  // The driver remembers nothing of an earlier process; the API server does.
  for await (const volume of client.of(kinds.PersistentVolume).each({ signal })) {
    const { csi, capacity } = volume.spec ?? {};
    const node = nodeOfVolume(volume, TOPOLOGY_KEY);
    if (csi?.driver !== DRIVER_NAME || node === undefined || !known.has(node)) continue;
    const bytes = Number(scaledValue(parseQuantity(capacity?.storage ?? "0"), 0));
    await storage.adopt({ id: csi.volumeHandle, name: volume.metadata.name ?? "", node, bytes });
  }
  const facts = { driverName: DRIVER_NAME, topologyKey: TOPOLOGY_KEY, account: REGISTRAR };
  return {
    drivers: oneForAll(DRIVER_NAME, storage.controller),
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
