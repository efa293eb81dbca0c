/**
 * A node of either kind, kubelet or fleet, on an API server in memory and on virtual time, with Node authorizer and
 * NodeRestriction. On both, containers do what the Pod itself says (`fleet/script.ts`): the same Pod is the same
 * scenario.
 */
import { type coordination, type core, kinds } from "#api";
import { MetricsRegistry, seededRandom, silentLogger, TaskGroup, type VirtualClock } from "#base";
import { Client, inProcess } from "#client";
import type { TestServer } from "../../apiserver/testing/index.ts";
import { KUBELET_DEFAULTS, type KubeletConfig } from "../config/index.ts";
import { readCommand } from "../fleet/command.ts";
import { Fleet } from "../fleet/fleet.ts";
import { nodesOf } from "../fleet/index.ts";
import { DEFAULTS, readScript, roleOf } from "../fleet/script.ts";
import { nodeServer } from "../fleet/testing/index.ts";
import type { Machine, MachineUsage } from "../host/index.ts";
import { runKubelet } from "../kubelet.ts";
import { type Behaviour, type Script, simulatedRuntime } from "../runtime/simulated/index.ts";
import { memoryHost } from "./memory-host.ts";

export type NodeKind = "kubelet" | "fleet";

export interface TestNode {
  readonly kind: NodeKind;
  readonly clock: VirtualClock;
  readonly client: Client;
  create(pod: core.Pod): Promise<void>;
  /** Undefined if it is gone. */
  get(name: string): Promise<core.Pod | undefined>;
  node(): Promise<core.Node>;
  lease(): Promise<coordination.Lease>;
  /** A crash and a new start. Containers keep running. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const NAME = "node-1";
const ADDRESS = "172.30.0.2";
const MAX_PODS = 5;
const VERSION = "v1.36.4";
const GIB = 1024 ** 3;

const MACHINE: Machine = {
  hostname: NAME,
  cpus: 2,
  memoryBytes: 4 * GIB,
  diskBytes: 100 * GIB,
  machineId: "machine",
  systemUuid: "system",
  bootId: "boot",
  kernelVersion: "6.12.0",
  osImage: "test",
  architecture: "amd64",
  resolver: { servers: [], searches: [], options: [] },
};

const USAGE: MachineUsage = {
  memoryAvailableBytes: 4 * GIB,
  memoryBytes: 4 * GIB,
  diskAvailableBytes: 100 * GIB,
  diskBytes: 100 * GIB,
  inodesFree: 1,
  inodes: 1,
  processes: 1,
  maxProcesses: 1000,
};

const CONFIG: KubeletConfig = {
  ...KUBELET_DEFAULTS,
  nodeName: NAME,
  nodeIps: [ADDRESS],
  rootDir: "/nowhere",
  podLogsRoot: "/nowhere/logs",
  maxPods: MAX_PODS,
  evictionHard: {},
};

export async function testNode(kind: NodeKind): Promise<TestNode> {
  const server = await nodeServer();
  const { clock } = server;
  const created = new Map<string, core.Pod>();
  const start = kind === "kubelet" ? kubeletOn(server, created) : fleetOn(server);
  const client = clientOf(server, "admin", ["system:masters"]);
  let tasks = new TaskGroup();
  start(tasks);
  await clock.advance(2_000);
  const pods = client.of(kinds.Pod).in("default");
  return {
    kind,
    clock,
    client,
    async create(pod) {
      created.set(pod.metadata.name ?? "", pod);
      await pods.create(pod);
      await server.settle();
    },
    async get(name) {
      await server.settle();
      return (await pods.list({ fieldSelector: `metadata.name=${name}` })).items[0];
    },
    node: () => client.of(kinds.Node).get(NAME),
    lease: () => client.of(kinds.Lease).in("kube-node-lease").get(NAME),
    async restart() {
      await tasks.stop();
      tasks = new TaskGroup();
      start(tasks);
      await clock.advance(1_000);
    },
    async close() {
      await tasks.stop();
      await client.close();
      await server.close();
    },
  };
}

function clientOf({ handle, clock }: TestServer, name: string, groups: readonly string[]): Client {
  return new Client({ transport: inProcess(handle, { name, groups }), clock, userAgent: "kubelet" });
}

function nodeClient(server: TestServer): Client {
  return clientOf(server, `system:node:${NAME}`, ["system:nodes", "system:authenticated"]);
}

/** Starts a kubelet on the simulated runtime and a machine in memory; both outlive it. */
function kubeletOn(server: TestServer, created: ReadonlyMap<string, core.Pod>): (tasks: TaskGroup) => void {
  const { clock } = server;
  const memory = memoryHost();
  const runtime = simulatedRuntime({ clock, files: memory.contents, script: scriptOf(created) });
  const host = { ...memory, machine: MACHINE, volumes: () => memory.volumes, usage: async () => USAGE };
  return (tasks) => {
    const client = nodeClient(server);
    const parts = { clock, random: seededRandom(1), log: silentLogger, metrics: new MetricsRegistry() };
    tasks.run("kubelet", async (signal) => {
      await runKubelet({ ...parts, config: CONFIG, client, runtime, host, version: VERSION }, signal);
      await client.close();
    });
  };
}

function fleetOn(server: TestServer): (tasks: TaskGroup) => void {
  return (tasks) => {
    const fleet = new Fleet({
      nodes: nodesOf({ count: 1, cpu: "2", memory: "4Gi", ephemeralStorage: "100Gi", pods: MAX_PODS }),
      clientOf: () => nodeClient(server),
      facts: { version: VERSION, architecture: "amd64" },
      clock: server.clock,
      random: seededRandom(1),
      log: silentLogger,
    });
    tasks.run("fleet", (signal) => fleet.run(signal));
  };
}

/** The Pods' own scripts for the simulated runtime. */
function scriptOf(created: ReadonlyMap<string, core.Pod>): Script {
  const failures = (image: string) => {
    for (const pod of created.values())
      for (const container of pod.spec?.containers ?? [])
        if (container.image === image) return readScript(pod, DEFAULTS).container(container, "regular").failedPulls;
    return 0;
  };
  return {
    sandbox: (name) => {
      const pod = created.get(name);
      return pod === undefined ? {} : { afterMs: readScript(pod, DEFAULTS).startDelayMs };
    },
    container: ({ pod, name }) => behaviourOf(created.get(pod), name),
    pull: (image, attempt) =>
      attempt < failures(image) ? { error: `failed to pull and unpack image "${image}": it is scripted to fail` } : {},
  };
}

function behaviourOf(pod: core.Pod | undefined, name: string): Behaviour {
  const init = pod?.spec?.initContainers?.find((each) => each.name === name);
  const container = init ?? pod?.spec?.containers.find((each) => each.name === name);
  // An ephemeral container is not in the Pod that was created.
  if (pod === undefined || container === undefined) return {};
  const script = readScript(pod, DEFAULTS).container(container, init === undefined ? "regular" : roleOf(init));
  const { runForMs, exitCode, exitReason, stopDelayMs, stopExitCode } = script;
  return {
    exit: Number.isFinite(runForMs) ? { afterMs: runForMs, code: exitCode, reason: exitReason } : undefined,
    onStop: { afterMs: stopDelayMs, exitCode: stopExitCode },
    exec: (command) => ({ exitCode: readCommand(command)?.exitCode ?? 0 }),
  };
}
