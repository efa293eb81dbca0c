/**
 * The API server of a cluster in one process: flags and files become its options, and it follows them while it runs.
 *
 *     flags ──► files ──► options ──► API server
 *                 ···► changed files and renewed certificates apply without a restart
 */
import type { Features } from "#api";
import { type ApiServer, type LocalExtensions, SCHEDULING_PATH } from "#apiserver";
import type { Clock, Logger, MetricsRegistry, Random, TaskGroup } from "#base";
import { Recorder } from "#flows";
import type { KeyPair } from "#pki";
import type { Store } from "#store";
import type { Tracing } from "#tracing";
import { readAdmission } from "../config/admission.ts";
import { readApis } from "../config/apis.ts";
import { readAudit } from "../config/audit.ts";
import { readAuthentication, readRequestHeader } from "../config/authentication.ts";
import { followAuthorization, readModes } from "../config/authorization.ts";
import {
  CurrentCertificate,
  followAuthentication,
  followNamed,
  readChangingFiles,
  servingCertificate,
} from "../config/changing-files.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { openEncryption } from "../config/encryption.ts";
import { withExternalSigner } from "../config/external-signer.ts";
import { listenOrExplain } from "../config/listen.ts";
import { readNamed } from "../config/named-certificates.ts";
import { firstFree } from "../config/ports.ts";
import { servingOptions } from "../config/serving.ts";
import type { ServingPki } from "../config/serving-pki.ts";
import { openFlowFile } from "../data/flow-file.ts";
import { SchedulingAnswers, SchedulingReasons } from "../reasons/scheduling-reasons.ts";
import { shareOfLimits, type ThreadShare } from "../threads/thread-share.ts";

export interface ClusterApiServerOptions {
  readonly config: ClusterConfig;
  readonly pki: ServingPki;
  readonly store: Store;
  readonly tracing?: Tracing | undefined;
  /** In the order in which they are tried. */
  readonly ports: readonly number[];
  /** The file of flow records, if the configuration asks for one. */
  readonly flowRecordsFile: string;
  readonly features: Features;
  /** Where real nodes reach this machine. */
  readonly machineIp: string | undefined;
  /** The Pod Security level of namespaces without labels. Default: none. */
  readonly podSecurityLevel?: "baseline" | undefined;
  /** Extension API servers of this process. */
  readonly extensions: LocalExtensions;
  /** Metrics of simulated nodes. */
  readonly simulatedMetrics: (node: string, path: string) => string | undefined;
  /** This server is one of several threads. Default: it is the only one. */
  readonly threads?: ThreadShare | undefined;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** How the other threads of this server are started: values that can be sent. */
export interface ServerOfCluster {
  readonly kind: "cluster";
  readonly config: ClusterConfig;
  readonly pki: ServingPki;
  readonly machineIp: string | undefined;
  readonly podSecurityLevel: "baseline" | undefined;
  /** The names of extension servers of the first thread. */
  readonly extensions: readonly string[];
}

export interface ClusterApiServer
  extends Pick<ApiServer, "port" | "handle" | "openAt" | "signToken" | "writeAuditLines" | "spread"> {
  /** Undefined: nothing is recorded. */
  readonly recorder: Recorder | undefined;
  readonly url: string;
  /** The same for other machines, if there is such an address. */
  readonly advertised: string;
  /** Where the scheduler in this process keeps the reasons for its decisions. */
  readonly reasons: SchedulingReasons;
  /** The client certificate for kubelets, as of now. */
  kubeletIdentity(): KeyPair;
  /** Applies changes of the files that flags name. */
  follow(background: TaskGroup): void;
  renewCertificates(fresh: ServingPki): void;
}

/** Its parts stop with `starting`. */
export async function startClusterApiServer(
  options: ClusterApiServerOptions,
  starting: AsyncDisposableStack,
): Promise<ClusterApiServer> {
  const { config, pki, store, machineIp, features, threads, metrics, clock, random, log } = options;
  const flags = config.authentication ?? {};
  const files = await readChangingFiles(flags);
  const { authorization: authorizationFlags = {} } = config;
  const { modes, configuration } = await readModes(authorizationFlags);
  const { namedCertificates } = config.serving ?? {};
  const parts = { pki, clientCa: files.clientCa, named: await readNamed(namedCertificates) };
  const encrypted = await openEncryption(config.encryption ?? {}, { clock, log });
  starting.defer(async () => encrypted?.encryption.close());
  const recorder = await openRecorder(options, starting);
  const reasons = new SchedulingReasons();
  const answers = new SchedulingAnswers(reasons, clock);
  let { frontProxyClient, apiserverKubeletClient } = pki;
  const advertised = config.listen?.address ?? machineIp;
  const wanted = [advertised, config.listen?.address6].filter((address) => address !== undefined);
  const otherAddresses = alsoAt(config, wanted);
  const { bindAddress } = config;
  const listenAt = { bindAddress, port: await firstFree(options.ports, [bindAddress, ...otherAddresses]) };
  const server = await listenOrExplain(listenAt, {
    store,
    recorder,
    tracer: options.tracing?.tracer("apiserver"),
    historyWindowMs: config.historyWindowMs,
    others: { [SCHEDULING_PATH]: answers.answer },
    start: { startedMs: threads?.startedMs ?? performance.timeOrigin, flags: config.flags ?? {} },
    sharedStore: config.store.kind === "etcd",
    storage: config.storage,
    authentication: await withExternalSigner(await readAuthentication(flags, files, pki), flags, options, starting),
    apis: readApis(config.runtimeConfig),
    requestHeader: await readRequestHeader(flags, pki),
    certificate: servingCertificate(parts),
    serving: servingOptions(config.serving, log),
    authorizationModes: modes,
    admission: readAdmission(config.admission ?? {}, options.podSecurityLevel),
    allowPrivileged: config.allowPrivileged,
    audit: await readAudit(config.audit ?? {}, log),
    encryption: encrypted?.encryption,
    fairness: shareOfLimits(config.fairness, threads?.count),
    thread: threads?.thread,
    features,
    frontProxyIdentity: () => frontProxyClient,
    extensions: options.extensions,
    // The cluster's CA issues the serving certificates of nodes: no other kubelet is talked to.
    kubeletIdentity: () => ({
      cert: apiserverKubeletClient.certPem,
      key: apiserverKubeletClient.keyPem,
      ca: pki.ca.certPem,
    }),
    simulatedMetrics: options.simulatedMetrics,
    advertiseAddress: advertised,
    alsoAt: otherAddresses,
    eventTtlMs: config.eventTtlMs,
    serviceCidrs: config.serviceCidrs,
    services: config.services,
    metrics,
    clock,
    random,
    log,
  });
  starting.defer(async () => {
    const stop = server.stop();
    await Promise.all([stop, threads?.stopOthers?.(stop)]);
  });
  starting.use(answers);
  const certificate = new CurrentCertificate(parts, (next) => server.renewCertificate(next));
  const { port, handle, openAt, signToken, writeAuditLines, spread } = server;
  return {
    port,
    handle,
    openAt,
    signToken,
    writeAuditLines,
    spread,
    recorder,
    url: urlOf(config.bindAddress, port),
    advertised: urlOf(config.listen?.address ?? config.bindAddress, port),
    reasons,
    kubeletIdentity: () => apiserverKubeletClient,
    follow: (background) => {
      const following = { background, certificate, server, metrics, clock, log };
      followAuthentication(flags, files, following);
      followAuthorization(authorizationFlags, configuration, following);
      followNamed(namedCertificates, parts.named, following);
      encrypted?.follow(background);
    },
    renewCertificates: (fresh) => {
      certificate.replace({ pki: fresh });
      ({ frontProxyClient, apiserverKubeletClient } = fresh);
    },
  };
}

async function openRecorder(
  { config, flowRecordsFile: path, threads, log }: ClusterApiServerOptions,
  starting: AsyncDisposableStack,
): Promise<Recorder | undefined> {
  if (config.flowRecords === "off") return undefined;
  if (threads?.recorder !== undefined) return threads.recorder;
  const recorder = new Recorder();
  if (config.flowRecords === "file") {
    const file = await openFlowFile({ path, recorder, log });
    starting.defer(() => file.close());
  }
  return recorder;
}

/** A server that listens on all addresses needs no other. */
function alsoAt({ bindAddress }: ClusterConfig, addresses: readonly string[]): readonly string[] {
  return isAnyAddress(bindAddress) ? [] : addresses.filter((address) => address !== bindAddress);
}

function urlOf(address: string, port: number): string {
  const host = isAnyAddress(address) ? "127.0.0.1" : address;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function isAnyAddress(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
