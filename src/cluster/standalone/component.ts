/**
 * A component in a process of its own: what kube-controller-manager and kube-scheduler have in common.
 *
 *     kubeconfig ──► client ──► (elected) ──► work, until the signal aborts
 *                      └──► health and metrics on a port of its own
 *
 * 1. It starts whether the API server answers or not, and waits for it.
 * 2. Who lost the lease ends its work, and stands for election again.
 */
import { hostname } from "node:os";
import type { coordination } from "#api";
import { type Clock, type Logger, MetricsRegistry, type Random, registerProcessMetrics, systemRandom } from "#base";
import { Client, type HttpsConnection, https, leadElected, type ResourceName } from "#client";
import { readKubeconfig } from "#pki";
import { ClusterError } from "../config/errors.ts";
import { type ComponentServing, type Served, serveComponent } from "./component-server.ts";

const LEASES: ResourceName = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export interface ComponentConfig {
  /** As its lease is called, and as the fields are owned that it writes. */
  readonly name: string;
  readonly kubeconfig: string;
  /** Instead of the server that the kubeconfig names. */
  readonly master?: string;
  /** Absent: nothing is served. */
  readonly serving?: ComponentServing;
  /** Absent: it works without being elected. */
  readonly election?: ElectionConfig;
  /** What is served besides health and metrics. */
  readonly reports?: Served["reports"];
  readonly texts?: Served["texts"];
  /** What has to be so before it is ready. */
  readonly readiness?: Served["readiness"];
}

export interface ElectionConfig {
  readonly namespace: string;
  /** Of the lease. Default: the component's own. */
  readonly lease?: string;
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** What a component works with. */
export interface Component {
  readonly client: Client;
  readonly connection: HttpsConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** What it does while it leads; called again if it is elected again. */
export type Work = (signal: AbortSignal) => Promise<void>;

/** `prepare` is called once, and says what to do. Runs until the signal aborts. Throws ClusterError for what its user can mend. */
export async function runComponent(
  config: ComponentConfig,
  { clock, log }: Pick<Component, "clock" | "log">,
  prepare: (component: Component) => Work,
  signal: AbortSignal,
): Promise<void> {
  const { name, serving, election, reports = {}, texts = {}, readiness = [] } = config;
  await using parts = new AsyncDisposableStack();
  const connection = await connectionOf(config);
  const client = new Client({ transport: https(connection, { clock }), clock, userAgent: name });
  parts.defer(() => client.close());
  const metrics = new MetricsRegistry();
  parts.use(registerProcessMetrics(metrics));
  if (serving !== undefined) {
    const server = await serveComponent(serving, { name, client, metrics, clock, log, reports, texts, readiness });
    parts.defer(() => server.close());
    log.info("serving health and metrics", { address: serving.bindAddress, port: server.port });
  }
  const component = { client, connection, clock, random: systemRandom(), log, metrics };
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
    .gauge({ name: "leader_election_master_status", help: "Whether this process leads.", labels: ["name"] as const })
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
    throw new ClusterError(`${kubeconfig}: the server ${chosen} is not reached over https.`);
  }
  return { server: chosen, caPem, tlsServerName, insecureSkipTlsVerify, ...client };
}
