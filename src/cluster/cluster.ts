/**
 * The composition root: a whole cluster in one process, wired by hand in the order in which its parts need each other.
 *
 *     data dir ──► node network ──► certificates ──► store ──► API server ──► kubeconfig, nodes
 *                                                 ▲
 *                                                 └────────── controllers, scheduler, simulated nodes
 *
 * 1. What was started is stopped in reverse order, also when a later part fails to start.
 * 2. The lock on the data directory is taken first and released last.
 */

import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { K8TS_VERSION, SCHEDULING_PATH } from "#apiserver";
import { MetricsRegistry, nextTurn, registerProcessMetrics, systemRandom, TaskGroup } from "#base";
import { Recorder } from "#flows";
import {
  type ClusterPki,
  ensureClusterPki,
  type Kubeconfig,
  kubeconfigFor,
  mergeKubeconfig,
  watchRenewal,
  writeKubeconfig,
} from "#pki";
import { openStore, type Store } from "#store";
import { readAdmission } from "./config/admission.ts";
import { readAudit } from "./config/audit.ts";
import { readAuthentication, readRequestHeader } from "./config/authentication.ts";
import { readModes } from "./config/authorization.ts";
import {
  ClientAuthorities,
  followAuthentication,
  readChangingFiles,
  servingCertificate,
} from "./config/changing-files.ts";
import { type ClusterConfig, historyOf } from "./config/cluster-config.ts";
import { openEncryption } from "./config/encryption.ts";
import type { Environment } from "./config/environment.ts";
import { ClusterError } from "./config/errors.ts";
import { listenOrExplain } from "./config/listen.ts";
import { dataDir, openDataDir, writeFileAtomic } from "./data/data-dir.ts";
import { openFlowFile } from "./data/flow-file.ts";
import type { RunState } from "./data/run-state.ts";
import { SchedulingAnswers, SchedulingReasons } from "./reasons/scheduling-reasons.ts";

export const CONTEXT_NAME = "k8ts";
/** The first address of the default service range: the `kubernetes` Service. */
const KUBERNETES_SERVICE_IP = "10.96.0.1";

/** As many as the usual range of addresses for Pods is enough for. */
const USUAL_NODES = 256;
const WIDE_POD_RANGE = "10.128.0.0/9";

export interface Cluster {
  readonly url: string;
  readonly kubeconfig: string;
  readonly store: Store;
  readonly mergedInto: string | undefined;
  readonly notes: readonly string[];
  /** Real nodes end with it, unless they are to be kept running for the next one. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

export async function startCluster(config: ClusterConfig, environment: Environment): Promise<Cluster> {
  const { clock, log } = environment;
  const random = systemRandom();
  const dir = dataDir(config.dataDir);
  const notes: string[] = [];
  if (config.controllers !== undefined)
    (await import("./in-process/controller-manager.ts")).checkSelection(config.controllers);
  if (config.flowRecords === "file" && config.store.kind === "memory")
    throw new ClusterError(
      "--flow-records file needs a store that is kept, too: what is in memory begins anew with each start.",
    );
  await using starting = new AsyncDisposableStack();

  const lock = await step("data directory", environment, async () => [await openDataDir(dir), dir.path]);
  starting.defer(() => lock.release());

  const { realNodes } = config;
  const real =
    realNodes &&
    (await step("node network", environment, async () => {
      const { openRealNodes } = await import("./nodes/index.ts");
      const opened = await openRealNodes({ dataDir: dir.path, config: realNodes, clock, random, log });
      return [opened, `nodes reach this machine at ${opened.machineIp}`];
    }));
  // A start that fails leaves what it found.
  let keepNodes = real?.found ?? true;
  starting.defer(async () => {
    if (!keepNodes) await real?.powerOff();
  });

  const pki = await step("certificates", environment, async () => {
    const made = await ensureClusterPki(dir.pki, { clock, log, serverNames: serverNames(config, real?.machineIp) });
    return [made, made.created ? "a new authority" : "as before"];
  });

  const store = await step("store", environment, async () => {
    const opened = await openStore({ ...storeSpec(config, dir.store), clock, log, ...historyOf(config) });
    return [opened, `${config.store.kind}, revision ${await opened.revision()}`];
  });
  starting.defer(() => store.close());

  const metrics = new MetricsRegistry();
  const reasons = new SchedulingReasons();
  const answers = new SchedulingAnswers(reasons, clock);
  starting.use(registerProcessMetrics(metrics));
  const flags = config.authentication ?? {};
  const files = await readChangingFiles(flags);
  const encrypted = await openEncryption(config.encryption ?? {}, { clock, log });
  starting.defer(async () => encrypted?.encryption.close());
  const recorder = config.flowRecords === "off" ? undefined : new Recorder();
  if (recorder !== undefined && config.flowRecords === "file") {
    const file = await openFlowFile({ path: dir.flowRecords, recorder, log });
    starting.defer(() => file.close());
  }
  let frontProxy = pki.frontProxyClient;
  let kubeletClient = pki.apiserverKubeletClient;
  const server = await step("API server", environment, async () => {
    const started = await listenOrExplain(config, {
      store,
      ...(recorder !== undefined && { recorder }),
      ...(config.historyWindowMs !== undefined && { historyWindowMs: config.historyWindowMs }),
      others: { [SCHEDULING_PATH]: answers.answer },
      sharedStore: config.store.kind === "etcd",
      authentication: await readAuthentication(flags, files, pki),
      requestHeader: await readRequestHeader(flags, pki),
      certificate: servingCertificate(pki, files.clientCa),
      authorizationModes: await readModes(config.authorization ?? {}),
      admission: readAdmission(config.admission ?? {}),
      audit: await readAudit(config.audit ?? {}, log),
      ...(encrypted !== undefined && { encryption: encrypted.encryption }),
      ...(config.fairness !== undefined && { fairness: config.fairness }),
      frontProxyIdentity: () => frontProxy,
      kubeletIdentity: () => ({ cert: kubeletClient.certPem, key: kubeletClient.keyPem }),
      ...(real !== undefined && { advertiseAddress: real.machineIp, alsoAt: alsoAt(config, real.machineIp) }),
      ...(config.eventTtlMs !== undefined && { eventTtlMs: config.eventTtlMs }),
      ...(config.serviceCidrs !== undefined && { serviceCidrs: config.serviceCidrs }),
      metrics,
      clock,
      random,
      log,
    });
    return [started, urlOf(config, started.port)];
  });
  starting.defer(() => server.stop());
  starting.use(answers);

  const url = urlOf(config, server.port);
  const writeOwnKubeconfig = (client: ClusterPki["admin"]) => {
    const content = kubeconfigFor({ name: CONTEXT_NAME, server: url, caPem: pki.ca.certPem, client });
    return writeKubeconfig(dir.kubeconfig, content).then(() => content);
  };
  const merge = (content: Kubeconfig) => mergeKubeconfig(config.mergeInto, content, { setCurrent: true, clock });
  const kubeconfig = await writeOwnKubeconfig(pki.admin);
  const mergedInto = await merge(kubeconfig).then(
    () => config.mergeInto,
    (error: Error) => {
      notes.push(`${error.message} It was left as it is: use KUBECONFIG=${dir.kubeconfig}`);
      return undefined;
    },
  );

  const state: RunState = {
    pid: process.pid,
    url,
    store: config.store.kind,
    version: K8TS_VERSION,
    startedAt: new Date(clock.now()).toISOString(),
    ...(mergedInto !== undefined && { mergedInto }),
  };
  const announce = async () => {
    await writeFileAtomic(dir.run, `${JSON.stringify(state, undefined, 2)}\n`);
    starting.defer(() => rm(dir.run, { force: true }));
  };
  const { nodes } = config;
  const hasNodes = nodes !== undefined || real !== undefined;
  // Without nodes there is nothing left to wait for: what is loaded from here on would only hold up the word that it is ready.
  if (!hasNodes) await announce();

  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });
  starting.defer(() => background.stop());
  const clients = new ClientAuthorities(pki, files.clientCa, (certificate) => server.renewCertificate(certificate));
  followAuthentication(flags, files, { background, clients, server, clock, log });
  encrypted?.follow(background);
  background.run("controller manager", async (signal) => {
    // Loaded beside the server's start, which need not wait for it: to read and link so much takes a turn of its own.
    await nextTurn();
    const { runControllerManager } = await import("./in-process/controller-manager.ts");
    await runControllerManager(
      {
        handle: server.handle,
        authority: pki.ca,
        ...(server.signToken !== undefined && { signToken: server.signToken }),
        elects: config.store.kind === "etcd",
        ...(config.controllers !== undefined && { selection: config.controllers }),
        ...((config.nodes?.count ?? 0) > USUAL_NODES && { nodeCidrs: { clusterCidrs: [WIDE_POD_RANGE] } }),
        ...(real !== undefined && {
          nodeCidrs: { clusterCidrs: real.podRanges, serviceCidrs: config.serviceCidrs ?? [] },
        }),
        clock,
        random,
        log,
        metrics,
      },
      signal,
    );
  });
  background.run("cluster info", async (signal) => {
    await nextTurn();
    const { publishOwnInfo } = await import("./in-process/cluster-info.ts");
    await publishOwnInfo({ handle: server.handle, server: url, caPem: pki.ca.certPem, clock, log }, signal);
  });
  if (config.scheduler !== false) {
    background.run("scheduler", async (signal) => {
      await nextTurn();
      const { runInProcessScheduler } = await import("./in-process/scheduler.ts");
      const elects = config.store.kind === "etcd";
      await runInProcessScheduler({ handle: server.handle, elects, reasons, clock, random, log, metrics }, signal);
    });
  }
  if (nodes !== undefined) {
    await step("nodes", environment, async () => {
      const { simulatedNodes } = await import("./in-process/simulated-nodes.ts");
      const fleet = simulatedNodes({ nodes, handle: server.handle, clock, random, log });
      background.run("simulated nodes", (signal) => fleet.run(signal));
      await fleet.ready;
      return [undefined, `${nodes.count} simulated`];
    });
  }
  if (real !== undefined) {
    await step("nodes", environment, async () => {
      const { port, handle } = server;
      const services = config.serviceCidrs !== undefined && { serviceCidrs: config.serviceCidrs };
      const { ready, wanted } = await real.run({ port, handle, authority: pki.ca, background, ...services });
      if (ready < wanted) notes.push(`${wanted - ready} of ${wanted} nodes are not ready yet; see ${dir.nodes}.`);
      return [undefined, `${ready} ready, on containerd`];
    });
  }
  background.run("certificate renewal", (signal) =>
    watchRenewal(pki, {
      clock,
      signal,
      onRenewed: async (fresh) => {
        clients.renew(fresh);
        frontProxy = fresh.frontProxyClient;
        kubeletClient = fresh.apiserverKubeletClient;
        const content = await writeOwnKubeconfig(fresh.admin);
        if (mergedInto !== undefined) await merge(content);
      },
      onFailed: (error) => log.error("certificates could not be renewed; trying again in an hour", { error }),
    }),
  );

  if (hasNodes) await announce();

  const parts = starting.move();
  let stopped: Promise<void> | undefined;
  return {
    url,
    store,
    kubeconfig: dir.kubeconfig,
    mergedInto,
    notes,
    stop(options = {}) {
      keepNodes = options.keepNodes ?? false;
      stopped ??= parts.disposeAsync();
      return stopped;
    },
  };
}

async function step<T>(name: string, { clock, progress }: Environment, work: () => Promise<[T, string]>): Promise<T> {
  const start = clock.monotonic();
  const [result, detail] = await work();
  progress({ name, detail, ms: clock.monotonic() - start });
  return result;
}

function storeSpec({ store }: ClusterConfig, embeddedDir: string) {
  return store.kind === "embedded" ? { ...store, dir: embeddedDir } : store;
}

/** Whoever listens everywhere is there already. */
function alsoAt({ bindAddress }: ClusterConfig, address: string): readonly string[] {
  return bindAddress === "0.0.0.0" || bindAddress === "::" || bindAddress === address ? [] : [address];
}

function serverNames({ bindAddress }: ClusterConfig, machineIp?: string) {
  const any = bindAddress === "0.0.0.0" || bindAddress === "::";
  const own = [...(any ? [] : [bindAddress]), ...(machineIp === undefined ? [] : [machineIp])];
  return {
    dnsNames: [
      "kubernetes",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.cluster.local",
      "localhost",
      hostname(),
    ],
    ipAddresses: [...new Set([KUBERNETES_SERVICE_IP, "127.0.0.1", "::1", ...own])],
  };
}

function urlOf({ bindAddress }: ClusterConfig, port: number): string {
  const host = bindAddress === "0.0.0.0" || bindAddress === "::" ? "127.0.0.1" : bindAddress;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
