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
import { isIP } from "node:net";
import type { Features } from "#api";
import { K8TS_VERSION } from "#apiserver";
import { MetricsRegistry, nextTurn, systemRandom, type TaskFailure, TaskGroup } from "#base";
import type { Fleet } from "#kubelet";
import { type ClusterPki, ensureClusterPki, watchRenewal } from "#pki";
import type { Store } from "#store";
import type { ClusterConfig, Environment } from "./config/cluster-config.ts";
import { ClusterError } from "./config/errors.ts";
import { featureNotes, readFeatures } from "./config/features.ts";
import { kubernetesAddresses } from "./config/service-addresses.ts";
import { servingDnsNames } from "./config/serving-files.ts";
import { servingPki } from "./config/serving-pki.ts";
import { openTracing } from "./config/tracing.ts";
import { dataDir, openDataDir, writeFileAtomic } from "./data/data-dir.ts";
import { type Kubeconfigs, writeKubeconfigs } from "./data/kubeconfigs.ts";
import type { LastStart, RunState } from "./data/run-state.ts";
import { type ClusterApiServer, isAnyAddress } from "./in-process/api-server.ts";
import { figuresOfControllers } from "./in-process/controller-figures.ts";
import { InProcessMetrics } from "./in-process/metrics-server.ts";
import type { OpenedRealNodes } from "./nodes/index.ts";
import { type Running, type Start, step } from "./start.ts";
import { startApiServer } from "./start-api-server.ts";
import { nodeCidrsOf, openNodeNetwork, startNodes, towardsNodes } from "./start-nodes.ts";
import { openClusterStore } from "./start-store.ts";
import { type ServerThreads, serverThreads } from "./threads/server-threads.ts";
import { startVolumes } from "./volumes.ts";

const ALL_COMPONENTS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
] as const;

const JOIN_CONTROLLERS = ["bootstrap-signer-controller", "token-cleaner-controller"];

export interface Cluster {
  readonly url: string;
  readonly kubeconfig: string;
  readonly store: Store;
  readonly mergedInto: string | undefined;
  readonly notes: readonly string[];
  /** Also powers off real nodes, unless `keepNodes` is set. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

export async function startCluster(config: ClusterConfig, environment: Environment): Promise<Cluster> {
  await checkConfig(config);
  await using starting = new AsyncDisposableStack();
  const start: Start = {
    ...environment,
    config,
    dir: dataDir(config.dataDir, config.name),
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
  const opened = await openClusterStore(start, tracing);
  const { etcdEndpoints } = opened;
  const { servingThreads: count = 1, store: backend } = config;
  const threads = serverThreads({ ...start, count, store: opened.store, isShared: backend.kind === "etcd" });
  const store = threads?.store ?? opened.store;
  const metrics = new InProcessMetrics();
  const { extensions } = metrics;
  let fleet: Fleet | undefined;
  const simulatedMetrics = (node: string, path: string) =>
    path === "/metrics/resource" ? fleet?.resourceMetricsOf(node) : undefined;
  const api = await startApiServer(start, {
    pki,
    store,
    tracing,
    extensions,
    simulatedMetrics,
    threads,
    ...towardsNodes(realNodes),
  });
  const kubeconfigs = await writeAdminKubeconfigs(start, pki, api);
  const hasNodes = config.nodes !== undefined || realNodes !== undefined;
  // A cluster without nodes is ready here: what is loaded from here on must not delay it.
  if (!hasNodes) await announce(start, api, kubeconfigs);
  const background = runInBackground(start, { pki, api, tracing, kubeconfigs, realNodes, threads });
  holdVirtualAddress(background, start, pki, api);
  if (etcdEndpoints !== undefined) tellControlPlanes(background, start, api, etcdEndpoints);
  fleet = await startNodes(start, { pki, api, tracing, background, realNodes });
  // Without nodes there is nothing to measure.
  const { metricResolutionMs: resolutionMs } = config;
  if (config.metricsServer ?? hasNodes)
    metrics.start(background, { ...start, ...api, fleet, caPem: pki.ca.certPem, resolutionMs });
  await letMachinesJoin(start, { pki, api, background, realNodes });
  await applyInitialObjects(start, api);
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

/** Machines that join need two controllers that are off by default, as kubeadm turns them on. */
function selectedControllers({ controllers, listen }: ClusterConfig): readonly string[] | undefined {
  if (listen === undefined) return controllers;
  const asked = controllers ?? ["*"];
  const isDecided = (name: string) => asked.some((each) => each.replace(/^-/, "") === name) || asked.join() === "";
  return [...asked, ...JOIN_CONTROLLERS.filter((name) => !isDecided(name))];
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

function ensureCertificates(start: Start, realNodes: OpenedRealNodes | undefined): Promise<ClusterPki> {
  const { config, dir, clock, log } = start;
  const { bindAddress } = config;
  const { listen, serviceCidrs, tlsSans = [] } = config;
  const own = [
    isAnyAddress(bindAddress) ? undefined : bindAddress,
    listen?.address,
    listen?.address6,
    listen?.virtualAddress,
  ];
  const addresses = [...kubernetesAddresses(serviceCidrs), "127.0.0.1", "::1", ...own, realNodes?.machineIp];
  const [ips, names] = [tlsSans.filter((san) => isIP(san) !== 0), tlsSans.filter((san) => isIP(san) === 0)];
  const serverNames = {
    dnsNames: [...new Set([...servingDnsNames(), ...names])],
    ipAddresses: [...new Set([...addresses.filter((address) => address !== undefined), ...ips])],
  };
  return step("certificates", start, async () => {
    const made = await ensureClusterPki(dir.pki, { clock, log, serverNames });
    return [made, made.created ? "a new authority" : "as before"];
  });
}

async function writeAdminKubeconfigs(start: Start, pki: ClusterPki, { url }: ClusterApiServer): Promise<Kubeconfigs> {
  const { config, dir, notes, clock } = start;
  const options = { dir, mergeInto: config.mergeInto, url, clock };
  const kubeconfigs = await writeKubeconfigs(pki, options);
  if (kubeconfigs.note !== undefined) notes.push(kubeconfigs.note);
  return kubeconfigs;
}

interface InBackground extends Running {
  readonly kubeconfigs: Kubeconfigs;
  readonly threads: ServerThreads | undefined;
}

/** Loads and runs the other components. The start does not wait for them: loading takes turns of the event loop. */
function runInBackground(
  start: Start,
  { pki, api, tracing, kubeconfigs, realNodes, threads }: InBackground,
): TaskGroup {
  const { config, starting, features, clock, random, log, metrics } = start;
  const { handle, signToken, reasons, advertised } = api;
  const handleOf = (component: string) => start.between?.(component, handle) ?? handle;
  const elects = config.store.kind === "etcd";
  const onFailure = ({ task, error }: TaskFailure) => log.error(`${task} failed and is restarted`, { error });
  const background = new TaskGroup({ onFailure, restart: { clock, random } });
  starting.defer(() => background.stop());
  api.follow(background);
  const controllerFigures = figuresOfControllers(metrics);
  background.run("controller manager", async (signal) => {
    await nextTurn();
    const { runControllerManager } = await import("./in-process/controller-manager.ts");
    const selection = selectedControllers(config);
    const { autoscaler } = config;
    const nodeCidrs = nodeCidrsOf(config, realNodes);
    const own = { authority: pki.ca, signToken, selection, nodeCidrs, autoscaler, features };
    const counted = await controllerFigures();
    const handle = handleOf("kube-controller-manager");
    await runControllerManager({ ...own, handle, elects, tracing, clock, random, log, metrics: counted }, signal);
  });
  if (features.enabled("CoordinatedLeaderElection")) {
    background.run("coordinated elections", async (signal) => {
      const { runCoordinatedElections } = await import("./in-process/coordinated-elections.ts");
      const counted = await controllerFigures();
      await runCoordinatedElections({ handle, features, clock, random, log, metrics: counted }, signal);
    });
  }
  background.run("cluster info", async (signal) => {
    await nextTurn();
    const { publishOwnInfo } = await import("./in-process/cluster-info.ts");
    await publishOwnInfo({ handle, server: advertised, caPem: pki.ca.certPem, clock, log }, signal);
  });
  if (config.scheduler !== false) {
    background.run("scheduler", async (signal) => {
      await nextTurn();
      const { runInProcessScheduler } = await import("./in-process/scheduler.ts");
      const own = { handle: handleOf("kube-scheduler"), reasons };
      await runInProcessScheduler({ ...own, elects, tracing, features, clock, random, log, metrics }, signal);
    });
  }
  background.run("certificate renewal", (signal) =>
    watchRenewal(pki, {
      clock,
      signal,
      onRenewed: async (fresh) => {
        api.renewCertificates(fresh);
        threads?.renew(servingPki(fresh));
        await kubeconfigs.renew(fresh);
      },
      onFailed: (error) => log.error("certificates could not be renewed; trying again in an hour", { error }),
    }),
  );
  return background;
}

/** Where etcd is, for control planes that join. */
function tellControlPlanes(
  background: TaskGroup,
  { clock, random, log }: Start,
  { handle }: ClusterApiServer,
  endpoints: () => readonly string[],
): void {
  background.run("etcd for other control planes", async (signal) => {
    const { keepEtcdPublished } = await import("./control-plane/index.ts");
    await keepEtcdPublished({ handle, endpoints, clock, random, log }, signal);
  });
}

/** It is released before the API server stops. */
function holdVirtualAddress(
  background: TaskGroup,
  { config, clock, random, log, notes }: Start,
  { ca }: ClusterPki,
  { handle, openAt, url }: ClusterApiServer,
): void {
  const { virtualAddress } = config.listen ?? {};
  if (config.listen === undefined || virtualAddress === undefined) return;
  const { host } = new URL(url);
  const port = host.slice(host.lastIndexOf(":") + 1);
  const shown = virtualAddress.includes(":") ? `[${virtualAddress}]` : virtualAddress;
  notes.push(`Clients outside reach the API servers at https://${shown}:${port}, on whichever machine it is.`);
  const listen = { ...config.listen, virtualAddress };
  background.run("virtual address", async (signal) => {
    const { keepVirtualAddress } = await import("./control-plane/virtual-address.ts");
    await keepVirtualAddress({ listen, url, handle, openAt, caPem: ca.certPem, clock, random, log }, signal);
  });
}

/** With `--listen`: describes the cluster to other machines, and says how they join. */
async function letMachinesJoin(
  start: Start,
  { pki, api, background, realNodes }: Omit<Running, "tracing"> & { readonly background: TaskGroup },
): Promise<void> {
  if (start.config.listen === undefined) return;
  await step("joining", start, async () => {
    const { letJoin } = await import("./join-phase.ts");
    const command = await letJoin(start, { pki, api, background, realNodes });
    start.notes.push(`Another machine joins within a day with: ${command}`);
    return [undefined, `machines join at ${api.advertised}`];
  });
}

/** What the configuration wants to be there from the start. */
async function applyInitialObjects(start: Start, { handle }: ClusterApiServer): Promise<void> {
  const { config, dir, clock } = start;
  const nodes = [...(config.nodes?.own ?? []), ...(config.realNodes?.own ?? [])];
  const { initial = { manifests: [], charts: [] } } = config;
  if (initial.manifests.length + initial.charts.length + nodes.length === 0) return;
  await step("objects", start, async () => {
    const { applyInitial } = await import("./in-process/initial-objects.ts");
    return [undefined, await applyInitial({ initial, nodes, handle, kubeconfig: dir.kubeconfig, clock })];
  });
}

/** Writes run.json, by which other commands find the cluster. */
async function announce(start: Start, { url, port }: ClusterApiServer, { mergedInto }: Kubeconfigs): Promise<void> {
  const { config, dir, starting, clock } = start;
  const state: RunState = {
    pid: process.pid,
    url,
    store: config.store.kind,
    version: K8TS_VERSION,
    startedAt: new Date(clock.now()).toISOString(),
    ...(mergedInto !== undefined && { mergedInto }),
  };
  const nodes = config.realNodes === undefined ? (config.nodes ?? { count: 0 }) : undefined;
  const { listen, tlsSans, mergeInto } = config;
  const serviceCidrs = listen === undefined ? undefined : config.serviceCidrs;
  const last: LastStart = { port, version: K8TS_VERSION, mergeInto, listen, tlsSans, serviceCidrs, nodes };
  await writeFileAtomic(dir.last, `${JSON.stringify(last, undefined, 2)}\n`);
  await writeFileAtomic(dir.run, `${JSON.stringify(state, undefined, 2)}\n`);
  starting.defer(() => rm(dir.run, { force: true }));
}

function describedMetrics(): MetricsRegistry {
  const metrics = new MetricsRegistry();
  metrics.describeItself();
  return metrics;
}
