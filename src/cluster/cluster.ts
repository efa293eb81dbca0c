/**
 * The composition root: a whole cluster in one process, wired by hand in the order in which its parts need each other.
 *
 *     lockDataDir ──► openNodeNetwork ──► ensureCertificates ──► openClusterStore ──► startApiServer
 *         ──► writeAdminKubeconfigs ──► runInBackground (controllers, scheduler, cluster info, renewal)
 *         ──► startNodes ──► announce: ready
 *
 * 1. What was started is stopped in reverse order, also when a later part fails to start.
 * 2. The lock on the data directory is taken first and released last.
 * 3. Each phase that takes time reports itself by `step`.
 */
import { rm } from "node:fs/promises";
import type { Features } from "#api";
import { K8TS_VERSION, type LocalExtensions } from "#apiserver";
import { MetricsRegistry, nextTurn, type Random, registerProcessMetrics, systemRandom, TaskGroup } from "#base";
import type { Fleet } from "#kubelet";
import { type ClusterPki, ensureClusterPki, watchRenewal } from "#pki";
import { openStore, type Store } from "#store";
import type { Tracing } from "#tracing";
import { type ClusterConfig, type Environment, historyOf } from "./config/cluster-config.ts";
import { ClusterError } from "./config/errors.ts";
import { featureNotes, readFeatures } from "./config/features.ts";
import { servingDnsNames } from "./config/serving-files.ts";
import { storeSpec } from "./config/store-spec.ts";
import { openTracing } from "./config/tracing.ts";
import { type DataDir, dataDir, openDataDir, writeFileAtomic } from "./data/data-dir.ts";
import { type Kubeconfigs, writeKubeconfigs } from "./data/kubeconfigs.ts";
import type { RunState } from "./data/run-state.ts";
import { type ClusterApiServer, isAnyAddress, startClusterApiServer } from "./in-process/api-server.ts";
import { InProcessMetrics } from "./in-process/metrics-server.ts";
import type { OpenedRealNodes } from "./nodes/index.ts";
import { startVolumes } from "./volumes.ts";

const ALL_COMPONENTS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
] as const;

/** The first address of the default service range: the `kubernetes` Service. */
const KUBERNETES_SERVICE_IP = "10.96.0.1";

const NO_NODE_TRACES =
  "The kubelets of these nodes are not traced: their networks have no way to the collector. Everything else is.";

/** The default range of Pod addresses is enough for this many nodes. */
const DEFAULT_RANGE_NODES = 256;
const WIDE_POD_RANGE = "10.128.0.0/9";

export interface Cluster {
  readonly url: string;
  readonly kubeconfig: string;
  readonly store: Store;
  readonly mergedInto: string | undefined;
  readonly notes: readonly string[];
  /** Also powers off real nodes, unless `keepNodes` is set. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

/** What every phase of a start may use. */
interface Start extends Environment {
  readonly config: ClusterConfig;
  readonly dir: DataDir;
  readonly features: Features;
  readonly random: Random;
  readonly metrics: MetricsRegistry;
  /** Stops what was started, in reverse order. */
  readonly starting: AsyncDisposableStack;
  /** For the user, once the cluster is ready. */
  readonly notes: string[];
  /** A start that fails leaves nodes as it found them. */
  keepNodes: boolean;
}

export async function startCluster(config: ClusterConfig, environment: Environment): Promise<Cluster> {
  await checkConfig(config);
  await using starting = new AsyncDisposableStack();
  const start: Start = {
    ...environment,
    config,
    dir: dataDir(config.dataDir),
    features: featuresOf(config, environment),
    random: systemRandom(),
    metrics: describedMetrics(),
    starting,
    notes: [],
    keepNodes: true,
  };
  await lockDataDir(start);
  const realNodes = await openNodeNetwork(start);
  const pki = await ensureCertificates(start, realNodes);
  const tracing = await openTracing(config.tracingConfigFile, start, starting);
  const store = await openClusterStore(start, tracing);
  const metrics = new InProcessMetrics();
  const served = { tracing, extensions: metrics.extensions, ...towardsNodes(realNodes) };
  const api = await startApiServer(start, { pki, store, ...served });
  const kubeconfigs = await writeAdminKubeconfigs(start, pki, api);
  const hasNodes = config.nodes !== undefined || realNodes !== undefined;
  // A cluster without nodes is ready here: what is loaded from here on must not delay it.
  if (!hasNodes) await announce(start, api, kubeconfigs);
  const background = runInBackground(start, { pki, api, tracing, kubeconfigs, realNodes });
  const fleet = await startNodes(start, { pki, api, tracing, background, realNodes });
  if (config.metricsServer ?? hasNodes) metrics.start(background, { ...start, ...api, fleet, caPem: pki.ca.certPem });
  if (hasNodes) await announce(start, api, kubeconfigs);
  if (hasNodes && config.localStorage !== false) startVolumes(background, { ...start, ...api });

  const parts = starting.move();
  let stopped: Promise<void> | undefined;
  return {
    url: api.url,
    store,
    kubeconfig: start.dir.kubeconfig,
    mergedInto: kubeconfigs.mergedInto,
    notes: start.notes,
    stop: ({ keepNodes = false } = {}) => {
      start.keepNodes = keepNodes;
      stopped ??= parts.disposeAsync();
      return stopped;
    },
  };
}

async function checkConfig({ controllers, flowRecords, store }: ClusterConfig): Promise<void> {
  if (controllers !== undefined) (await import("./in-process/controller-manager.ts")).checkSelection(controllers);
  if (flowRecords === "file" && store.kind === "memory")
    throw new ClusterError(
      "--flow-records file needs a store that outlives the process: --store memory starts empty each time.",
    );
}

function featuresOf({ features: flags }: ClusterConfig, { log }: Environment): Features {
  const features = readFeatures(flags);
  for (const note of featureNotes(features, flags, ALL_COMPONENTS)) log.warn(note);
  return features;
}

async function lockDataDir(start: Start): Promise<void> {
  const { dir, starting } = start;
  const lock = await step("data directory", start, async () => [await openDataDir(dir), dir.path]);
  starting.defer(() => lock.release());
}

/** The network that real nodes share with this machine; undefined without real nodes. */
async function openNodeNetwork(start: Start): Promise<OpenedRealNodes | undefined> {
  const { config, dir, starting, clock, random, log } = start;
  const { realNodes } = config;
  if (realNodes === undefined) return undefined;
  const opened = await step("node network", start, async () => {
    const { openRealNodes } = await import("./nodes/index.ts");
    const opened = await openRealNodes({ dataDir: dir.path, config: realNodes, clock, random, log });
    return [opened, `nodes reach this machine at ${opened.machineIp}`];
  });
  if (opened.isolationObstacle !== undefined)
    start.notes.push(
      `Nodes share the files and processes of this machine (${opened.isolationObstacle}): namespaces enforce the Pod Security level baseline by default.`,
    );
  start.keepNodes = opened.found;
  starting.defer(async () => {
    if (!start.keepNodes) await opened.powerOff();
  });
  return opened;
}

/** Without namespaces of their own, nodes cannot keep Pods from the machine: Pod Security has to. */
function towardsNodes(realNodes: OpenedRealNodes | undefined): Pick<ApiServerParts, "machineIp" | "podSecurityLevel"> {
  const isShared = realNodes?.isolationObstacle !== undefined;
  return { machineIp: realNodes?.machineIp, podSecurityLevel: isShared ? "baseline" : undefined };
}

function ensureCertificates(start: Start, realNodes: OpenedRealNodes | undefined): Promise<ClusterPki> {
  const { config, dir, clock, log } = start;
  const { bindAddress } = config;
  const own = [isAnyAddress(bindAddress) ? undefined : bindAddress, realNodes?.machineIp];
  const addresses = [KUBERNETES_SERVICE_IP, "127.0.0.1", "::1", ...own.filter((address) => address !== undefined)];
  const serverNames = { dnsNames: servingDnsNames(), ipAddresses: [...new Set(addresses)] };
  return step("certificates", start, async () => {
    const made = await ensureClusterPki(dir.pki, { clock, log, serverNames });
    return [made, made.created ? "a new authority" : "as before"];
  });
}

async function openClusterStore(start: Start, tracing: Tracing | undefined): Promise<Store> {
  const { config, dir, starting, clock, log } = start;
  const spec = storeSpec(config.store, dir.store);
  const store = await step("store", start, async () => {
    const opened = await openStore({ ...spec, clock, log, ...historyOf(config), tracer: tracing?.tracer("apiserver") });
    return [opened, `${spec.kind}, revision ${await opened.revision()}`];
  });
  starting.defer(() => store.close());
  return store;
}

interface ApiServerParts {
  readonly pki: ClusterPki;
  readonly store: Store;
  readonly tracing: Tracing | undefined;
  readonly extensions: LocalExtensions;
  readonly machineIp: string | undefined;
  readonly podSecurityLevel: "baseline" | undefined;
}

function startApiServer(start: Start, parts: ApiServerParts): Promise<ClusterApiServer> {
  const { dir, starting, metrics } = start;
  starting.use(registerProcessMetrics(metrics));
  return step("API server", start, async () => {
    const api = await startClusterApiServer({ ...start, ...parts, flowRecordsFile: dir.flowRecords }, starting);
    return [api, api.url];
  });
}

async function writeAdminKubeconfigs(start: Start, pki: ClusterPki, { url }: ClusterApiServer): Promise<Kubeconfigs> {
  const { config, dir, notes, clock } = start;
  const options = { ownFile: dir.kubeconfig, mergeInto: config.mergeInto, url, clock };
  const kubeconfigs = await writeKubeconfigs(pki, options);
  if (kubeconfigs.note !== undefined) notes.push(kubeconfigs.note);
  return kubeconfigs;
}

interface Running {
  readonly pki: ClusterPki;
  readonly tracing: Tracing | undefined;
  readonly api: ClusterApiServer;
  readonly realNodes: OpenedRealNodes | undefined;
}

/** Loads and runs the other components. The start does not wait for them: loading takes turns of the event loop. */
function runInBackground(
  start: Start,
  { pki, api, tracing, kubeconfigs, realNodes }: Running & { readonly kubeconfigs: Kubeconfigs },
): TaskGroup {
  const { config, starting, features, clock, random, log, metrics } = start;
  const { handle, signToken, reasons, url } = api;
  const elects = config.store.kind === "etcd";
  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
  starting.defer(() => background.stop());
  api.follow(background);
  background.run("controller manager", async (signal) => {
    await nextTurn();
    const { runControllerManager } = await import("./in-process/controller-manager.ts");
    const { controllers: selection } = config;
    const own = { authority: pki.ca, signToken, selection, nodeCidrs: nodeCidrsOf(config, realNodes), features };
    await runControllerManager({ ...own, handle, elects, tracing, clock, random, log, metrics }, signal);
  });
  background.run("cluster info", async (signal) => {
    await nextTurn();
    const { publishOwnInfo } = await import("./in-process/cluster-info.ts");
    await publishOwnInfo({ handle, server: url, caPem: pki.ca.certPem, clock, log }, signal);
  });
  if (config.scheduler !== false) {
    background.run("scheduler", async (signal) => {
      await nextTurn();
      const { runInProcessScheduler } = await import("./in-process/scheduler.ts");
      await runInProcessScheduler({ handle, elects, tracing, reasons, clock, random, log, metrics }, signal);
    });
  }
  background.run("certificate renewal", (signal) =>
    watchRenewal(pki, {
      clock,
      signal,
      onRenewed: async (fresh) => {
        api.renewCertificates(fresh);
        await kubeconfigs.renew(fresh);
      },
      onFailed: (error) => log.error("certificates could not be renewed; trying again in an hour", { error }),
    }),
  );
  return background;
}

/** Ranges for the Pod CIDRs of nodes. Undefined: the default range. */
function nodeCidrsOf({ nodes, serviceCidrs = [] }: ClusterConfig, realNodes: OpenedRealNodes | undefined) {
  if (realNodes !== undefined) return { clusterCidrs: realNodes.podRanges, serviceCidrs };
  return (nodes?.count ?? 0) > DEFAULT_RANGE_NODES ? { clusterCidrs: [WIDE_POD_RANGE] } : undefined;
}

async function startNodes(
  start: Start,
  { pki, api, tracing, background, realNodes }: Running & { readonly background: TaskGroup },
): Promise<Fleet | undefined> {
  const { config, dir, notes, clock, random, log } = start;
  const { nodes, serviceCidrs } = config;
  const { port, handle } = api;
  let simulated: Fleet | undefined;
  if (nodes !== undefined) {
    simulated = await step("nodes", start, async () => {
      const { simulatedNodes } = await import("./in-process/simulated-nodes.ts");
      const { nodeUsage } = await import("./in-process/node-usage.ts");
      const { usageFile } = nodes;
      const usage = usageFile === undefined ? undefined : await nodeUsage(usageFile, { background, clock, log });
      const fleet = simulatedNodes({ nodes, usage, handle, tracing, clock, random, log });
      background.run("simulated nodes", (signal) => fleet.run(signal));
      await fleet.ready;
      return [fleet, `${nodes.count} simulated`];
    });
  }
  if (realNodes !== undefined) {
    if (tracing !== undefined) notes.push(NO_NODE_TRACES);
    await step("nodes", start, async () => {
      const { ready, wanted } = await realNodes.run({
        port,
        handle,
        authority: pki.ca,
        background,
        serviceCidrs,
        featureGates: gatesOfNodes(start),
      });
      if (ready < wanted) notes.push(`${wanted - ready} of ${wanted} nodes are not ready yet; see ${dir.nodes}.`);
      return [undefined, `${ready} ready, on containerd`];
    });
  }
  return simulated;
}

/** A flag for the programs of a node. They emulate no other version, so its gates are not theirs. */
function gatesOfNodes({ config, log }: Start): string | undefined {
  const { gates, emulatedVersion } = config.features ?? {};
  if (emulatedVersion === undefined) return gates;
  log.warn("nodes have the features of v1.36: --emulated-version and its --feature-gates do not reach them");
  return undefined;
}

/** Writes run.json, by which other commands find the cluster. */
async function announce(start: Start, { url }: ClusterApiServer, { mergedInto }: Kubeconfigs): Promise<void> {
  const { config, dir, starting, clock } = start;
  const state: RunState = {
    pid: process.pid,
    url,
    store: config.store.kind,
    version: K8TS_VERSION,
    startedAt: new Date(clock.now()).toISOString(),
    ...(mergedInto !== undefined && { mergedInto }),
  };
  await writeFileAtomic(dir.run, `${JSON.stringify(state, undefined, 2)}\n`);
  starting.defer(() => rm(dir.run, { force: true }));
}

async function step<T>(name: string, { clock, progress }: Start, work: () => Promise<[T, string]>): Promise<T> {
  const startMs = clock.monotonic();
  const [result, detail] = await work();
  progress({ name, detail, ms: clock.monotonic() - startMs });
  return result;
}

function describedMetrics(): MetricsRegistry {
  const metrics = new MetricsRegistry();
  metrics.describeItself();
  return metrics;
}
