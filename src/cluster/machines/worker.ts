/**
 * A machine of a cluster whose control plane is elsewhere: one node, with this machine's network.
 *
 *     data directory ──► joining (the first time: discovery, configuration) ──► identity ──► node network
 *         ──► node (containerd, kubelet, network agent with the balancer) ──► Ready ──► run.json
 *         ···► certificates are renewed before they have to be; a removed node is powered off
 *
 * 1. The token is used once: later starts have the node's certificate.
 * 2. A later start needs no control plane: the node runs with what it knows.
 */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { type core, kinds } from "#api";
import { K8TS_VERSION } from "#apiserver";
import { type Clock, systemRandom, type TaskFailure, TaskGroup } from "#base";
import { Client, https, Informer } from "#client";
import { type ChangingTransport, changingTransport } from "#kubelet";
import { readyzCheck, rememberedMembers } from "#network";
import { kubeconfigFor, writeKubeconfig } from "#pki";
import type { Environment, RealNodesConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, openDataDir, writeFileAtomic } from "../data/data-dir.ts";
import type { RunState } from "../data/run-state.ts";
import { nodeNames, powerOffAll, RealNodes, runNodes, siteNames, untilReady } from "../nodes/index.ts";
import { type JoinRequest, joinCluster } from "./join-cluster.ts";
import { type JoinRecord, readJoinRecord, writeJoinRecord } from "./join-record.ts";
import { REMOVED } from "./names.ts";
import { type RemoteAuthority, remoteAuthority } from "./remote-authority.ts";

/** Of loopback: where the node's processes reach the API servers. */
export const BALANCER_PORT = 6444;
const LISTENING_MS = 100;
const RENEWAL_MS = 3_600_000;

export interface WorkerConfig {
  readonly dir: DataDir;
  /** The commands of the node's processes, and what else nodes of this machine have. */
  readonly node: Pick<RealNodesConfig, "command" | "proxyCommand" | "mounts" | "opensLoops">;
  readonly outside: boolean;
  /** What the command line says of the cluster. Undefined: the machine has joined before. */
  readonly request?: JoinRequest | undefined;
}

export interface Worker {
  readonly record: JoinRecord;
  readonly kubeconfig: string;
  readonly notes: readonly string[];
  /** Resolves when the node has been removed from the cluster. */
  readonly removed: Promise<void>;
  stop(options: { readonly keepNodes: boolean }): Promise<void>;
}

export async function startWorker(config: WorkerConfig, environment: Environment): Promise<Worker> {
  const { dir, outside } = config;
  const { clock, log, progress } = environment;
  const step = async <T>(name: string, work: () => Promise<[T, string]>): Promise<T> => {
    const startMs = clock.monotonic();
    const [result, detail] = await work();
    progress({ name, detail, ms: clock.monotonic() - startMs });
    return result;
  };
  await using starting = new AsyncDisposableStack();
  let keepNodes = true;
  const lock = await step("data directory", async () => [await openDataDir(dir), dir.path]);
  starting.defer(() => lock.release());

  const known = await readJoinRecord(dir);
  const record = await step("joining", async () => {
    const joined = await joinCluster(dir, known, config.request, clock);
    return [joined, known === undefined ? `the cluster at ${joined.endpoint}` : "as before"];
  });
  const { nodeName, caPem, endpoint } = record;
  const remembered = nodeNames(siteNames(dir.path), nodeName).apiServersFile;
  const server = () => livingServer([endpoint], remembered, caPem, environment);
  const authority = remoteAuthority({ dir: dir.pki, caPem, nodeName, server, token: config.request?.token, clock });
  const identity = await step("identity", async () => [await authority.identity(), `system:node:${nodeName}`]);
  await writeJoinRecord(dir, record);

  const nodes = await step("node network", async () => {
    const machine = { address: record.nodeIp };
    const { podRanges } = record;
    const random = systemRandom();
    const opened = await RealNodes.open({
      ...config.node,
      dataDir: dir.path,
      machine,
      podRanges,
      outside,
      clock,
      random,
      log,
    });
    return [opened, `this machine at ${record.nodeIp}`];
  });
  const { labels, taints } = record;
  await nodes.want(1, [{ name: nodeName, labels, taints }]);
  starting.defer(async () => {
    if (!keepNodes) await powerOffAll(nodes.site, clock);
  });

  const url = `https://127.0.0.1:${BALANCER_PORT}`;
  const writeAccess = async (pair = identity) =>
    writeKubeconfig(dir.kubeconfig, kubeconfigFor({ name: record.clusterName, server: url, caPem, client: pair }));
  await writeAccess();
  const onFailure = ({ task, error }: TaskFailure) => log.error(`${task} failed and is restarted`, { error });
  const background = new TaskGroup({ onFailure, restart: { clock, random: systemRandom() } });
  starting.defer(() => background.stop());
  const transport = changingTransport(https({ server: url, caPem, ...identity }, { clock }));
  const client = new Client({ transport, clock, userAgent: `k8ts/${K8TS_VERSION}` });
  starting.defer(() => client.close());
  const inApi = new Informer<core.Node>({
    ...{ client: client.of<core.Node>(kinds.Node), clock, random: systemRandom(), log },
    selectors: { fieldSelector: `metadata.name=${nodeName}` },
  });
  const removed = Promise.withResolvers<void>();
  inApi.onChange(({ type, object }) => {
    if (type === "deleted" && object.metadata.annotations?.[REMOVED] !== undefined) removed.resolve();
  });
  background.run("own node", async (signal) => {
    await untilListening(BALANCER_PORT, clock, signal);
    await inApi.run(signal);
  });
  background.run("certificates", async (signal) => {
    for (;;) {
      await clock.sleep(RENEWAL_MS, signal);
      await renew(authority, transport, url, environment, writeAccess);
    }
  });
  const running = {
    ...{ nodes, outside, inApi, background, clock, log },
    config: { ...config.node, count: 1, proxyMode: proxyModeOf(record) },
    access: {
      serverUrl: url,
      authority,
      serviceRanges: record.serviceRanges,
      clusterDns: record.clusterDns,
      featureGates: gatesText(record.featureGates),
      localStorage: false,
      apiBalancer: { address: `127.0.0.1:${BALANCER_PORT}`, members: [endpoint] },
    },
  };
  const notes: string[] = [];
  await step("node", async () => {
    await runNodes(running);
    const { ready } = await untilReady(running);
    if (ready === 0) notes.push(`The node is not ready yet; see ${dir.nodes}.`);
    return [undefined, ready === 0 ? "not ready yet" : "ready, on containerd"];
  });
  await announce(dir, record, environment, starting);
  const parts = starting.move();
  return {
    record,
    kubeconfig: dir.kubeconfig,
    notes,
    removed: removed.promise,
    stop: async (options) => {
      keepNodes = options.keepNodes;
      await parts.disposeAsync();
    },
  };
}

/** The node's own processes begin after this: until then nobody listens. */
async function untilListening(port: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect({ host: "127.0.0.1", port });
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await clock.sleep(LISTENING_MS, signal);
  }
}

/** The first API server that answers; that by which the machine joined if none does. */
async function livingServer(
  members: readonly string[],
  file: string,
  caPem: string,
  { clock, log }: Environment,
): Promise<string> {
  const check = readyzCheck({ caPem, clock });
  const all = [...new Set([...(await rememberedMembers(file, log)), ...members])];
  const { signal } = new AbortController();
  for (const address of all) if ((await check(address, signal)) === "ready") return `https://${address}`;
  return `https://${members[0]}`;
}

/** Long before the node's processes need others, so that a control plane that is away then does no harm. */
async function renew(
  authority: RemoteAuthority,
  transport: ChangingTransport,
  server: string,
  { clock, log }: Environment,
  onIdentity: (pair: { readonly certPem: string; readonly keyPem: string }) => Promise<void>,
): Promise<void> {
  try {
    const identity = await authority.renewEarly();
    if (identity === undefined) return;
    await transport.replace(https({ server, caPem: authority.certPem, ...identity }, { clock }));
    await onIdentity(identity);
  } catch (error) {
    log.warn("certificates could not be renewed; trying again in an hour", { error });
  }
}

/** Writes run.json, by which other commands find the machine's process. */
async function announce(
  dir: DataDir,
  { nodeName, clusterName, endpoint }: JoinRecord,
  { clock }: Environment,
  starting: AsyncDisposableStack,
): Promise<void> {
  const state: RunState = {
    pid: process.pid,
    url: `https://${endpoint}`,
    store: "none: the control plane has it",
    version: K8TS_VERSION,
    startedAt: new Date(clock.now()).toISOString(),
    joined: { nodeName, clusterName },
  };
  await writeFileAtomic(dir.run, `${JSON.stringify(state, undefined, 2)}\n`);
  starting.defer(() => rm(dir.run, { force: true }));
}

function proxyModeOf({ proxyMode }: JoinRecord): RealNodesConfig["proxyMode"] {
  if (proxyMode === "" || proxyMode === "nftables") return "nftables";
  if (proxyMode === "iptables") return "iptables";
  throw new ClusterError(`The cluster's kube-proxy has the mode ${proxyMode}: this k8ts has nftables and iptables.`);
}

function gatesText(gates: Readonly<Record<string, boolean>>): string | undefined {
  const all = Object.entries(gates).map(([name, on]) => `${name}=${on}`);
  return all.length === 0 ? undefined : all.join();
}
