/**
 * A component in its own process: the common part of kube-controller-manager and kube-scheduler.
 *
 *     kubeconfig ──► client ──► (elected) ──► work, until the signal aborts
 *                      └──► health and metrics on a port of its own
 *
 * 1. It starts even if the API server is not reachable, and waits for it.
 * 2. A leader that loses the lease stops its work and tries to acquire it again.
 */
import { hostname } from "node:os";
import { type coordination, type FeatureFlags, type Features, isComponent, kinds, registerFeatureMetrics } from "#api";
import { registerVersionMetrics } from "#apiserver";
import {
  type Clock,
  type Logger,
  MetricsRegistry,
  type MetricsSettings,
  type Random,
  registerProcessMetrics,
  systemRandom,
} from "#base";
import { Client, clientMetrics, type HttpsConnection, https, leadElected, logged, traced } from "#client";
import { readKubeconfig } from "#pki";
import type { Tracer } from "#tracing";
import { ClusterError } from "../config/errors.ts";
import { featureNotes, readFeatures } from "../config/features.ts";
import { openTracing } from "../config/tracing.ts";
import { type ComponentServing, type Served, serveComponent } from "./component-server.ts";

const LEASES = kinds.Lease;

export interface ComponentConfig {
  /** The name of its lease and its field manager. */
  readonly name: string;
  readonly kubeconfig: string;
  /** Overrides the server of the kubeconfig. */
  readonly master?: string | undefined;
  /** Absent: nothing is served. */
  readonly serving?: ComponentServing | undefined;
  /** What its works do, in the names of their spans. Default: Reconcile. */
  readonly workVerb?: string | undefined;
  /** Absent: no leader election. */
  readonly election?: ElectionConfig | undefined;
  /** Feature gates and the emulated version. Default: those of v1.36. */
  readonly features?: FeatureFlags | undefined;
  /** Served besides health and metrics. */
  readonly reports?: Served["reports"] | undefined;
  readonly texts?: Served["texts"] | undefined;
  readonly metrics?: MetricsSettings | undefined;
  /** For /flagz: values by the flags' names. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** `--tracing-config-file`. Default: nothing is traced. */
  readonly tracingConfigFile?: string | undefined;
  /** Conditions of readiness. */
  readonly readiness?: Served["readiness"] | undefined;
}

export interface ElectionConfig {
  readonly namespace: string;
  /** Name of the lease. Default: the component's. */
  readonly lease?: string | undefined;
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** What a component gets. */
export interface Component {
  readonly client: Client;
  readonly connection: HttpsConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly features: Features;
  readonly tracer: Tracer | undefined;
}

/** Runs while it leads; called again after each election. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** `prepare` is called once and returns the work. Runs until the signal aborts. Throws ClusterError for user errors. */
export async function runComponent(
  config: ComponentConfig,
  { clock, log }: Pick<Component, "clock" | "log">,
  prepare: (component: Component) => Work,
  signal: AbortSignal,
): Promise<void> {
  const { name, serving, election, reports = {}, texts = {}, readiness = [], flags = {} } = config;
  const features = readFeatures(config.features);
  for (const note of featureNotes(features, config.features, isComponent(name) ? [name] : [])) log.warn(note);
  await using parts = new AsyncDisposableStack();
  const metrics = new MetricsRegistry(config.metrics);
  metrics.describeItself();
  const tracer = (await openTracing(config.tracingConfigFile, { clock, log, metrics }, parts))?.tracer(name);
  parts.use(registerProcessMetrics(metrics));
  const connection = await connectionOf(config);
  const measured = clientMetrics(metrics, clock).of(https(connection, { clock }), connection.server);
  const plain = logged(measured, connection.server, clock, log);
  const transport = traced(plain, tracer, config.workVerb ?? "Reconcile");
  const client = new Client({ transport, clock, userAgent: name });
  parts.defer(() => client.close());
  registerFeatureMetrics(metrics, features);
  registerVersionMetrics(metrics, features);
  if (serving !== undefined) {
    const served = { name, metrics, clock, log, reports, texts, readiness, features, flags };
    const server = await serveComponent(serving, { ...served, client });
    parts.defer(() => server.close());
    log.info("serving health and metrics", { address: serving.bindAddress, port: server.port });
  }
  const component = { client, connection, clock, random: systemRandom(), log, metrics, features, tracer };
  const work = prepare(component);
  await (election === undefined ? work(signal) : elected(name, election, component, work, signal));
}

async function elected(
  name: string,
  { namespace, lease = name, ...times }: ElectionConfig,
  { client, clock, random, log, metrics }: Component,
  work: Work,
  signal: AbortSignal,
): Promise<void> {
  const leads = metrics
    .gauge({
      name: "leader_election_master_status",
      help: "Whether this process leads.",
      labels: ["name"],
      stability: "ALPHA",
    })
    .labels(lease);
  leads.set(0);
  const identity = `${hostname()}_${Buffer.from(random.bytes(8)).toString("hex")}`;
  const leases = client.of<coordination.Lease>(LEASES).in(namespace);
  await leadElected({ leases, name: lease, identity, clock, random, log, ...times }, signal, async (term) => {
    leads.set(1);
    try {
      await work(term);
    } finally {
      leads.set(0);
    }
  });
}

async function connectionOf({ kubeconfig, master }: ComponentConfig): Promise<HttpsConnection> {
  const { server, caPem, client = {}, tlsServerName, insecureSkipTlsVerify } = await readKubeconfig(kubeconfig);
  const chosen = master ?? server;
  if (!URL.canParse(chosen) || new URL(chosen).protocol !== "https:") {
    throw new ClusterError(`${kubeconfig}: the server ${chosen} is not an https URL.`);
  }
  return { server: chosen, caPem, tlsServerName, insecureSkipTlsVerify, ...client };
}
