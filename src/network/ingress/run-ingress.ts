/**
 * The ingress controller: follows the API, serves HTTP and HTTPS, and writes the status of Ingresses.
 *
 *     followIngresses ──► routes, certificates, endpoints
 *                              ▲
 *     client ──► server ──► exchange ──► endpoint
 *            └─► stream server ──► endpoint        (TLSRoutes and TCPRoutes)
 */
import { hostname } from "node:os";
import { isStatusError, kinds, type networking } from "#api";
import { Backoff, type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import { type Client, eventRecorder, objectKey } from "#client";
import { runGateways, type ServedGateways } from "../gateway/index.ts";
import { Connections } from "../http/connections.ts";
import { ingressMetrics } from "../http/metrics.ts";
import { type CertificatePem, startHttpServer } from "../http/server.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { StreamServer } from "../stream/server.ts";
import { Certificates } from "./certificates.ts";
import { CLASS_NAME, CONTROLLER } from "./classes.ts";
import { type Followed, followIngresses } from "./follow.ts";
import { localHostOf, type RouteProblem } from "./routes.ts";
import { addressOf, writeStatus } from "./status.ts";

export interface IngressOptions {
  readonly client: Client;
  readonly address: string;
  /** Undefined: not served. */
  readonly httpPort?: number | undefined;
  readonly httpsPort?: number | undefined;
  readonly controller?: string;
  readonly className?: string;
  /** Creates the IngressClass if there is none. */
  readonly ensuresClass?: boolean;
  /** Addresses and host names for the status of Ingresses. */
  readonly publishedAddresses?: readonly string[];
  /** `namespace/name` of a Service: the status shows the addresses of its load balancer instead. */
  readonly publishedService?: string | undefined;
  /** Each Ingress has a host of its own, too: `NAME.NAMESPACE.localhost`. */
  readonly localHosts?: boolean | undefined;
  readonly defaultCertificate?: CertificatePem;
  readonly trustsForwarded?: boolean;
  readonly maxBodyBytes?: number | undefined;
  readonly maxConnections?: number;
  readonly connectMs?: number;
  readonly answerMs?: number;
  readonly drainMs?: number;
  readonly onReady?: (ports: { readonly http: number | undefined; readonly https: number | undefined }) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

const CONNECT_MS = 5000;
const ANSWER_MS = 60_000;
const BODY_IDLE_MS = 60_000;
const DRAIN_MS = 30_000;
const MAX_CONNECTIONS = 20_000;
const STATUS_RETRY_MS = 60_000;

/** Until the signal aborts. */
export async function runIngress(options: IngressOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, controller = CONTROLLER, className = CLASS_NAME } = options;
  const { connectMs = CONNECT_MS, answerMs = ANSWER_MS, drainMs = DRAIN_MS } = options;
  const { defaultCertificate, maxBodyBytes, maxConnections = MAX_CONNECTIONS, trustsForwarded = false } = options;
  const metrics = ingressMetrics(options.metrics);
  const certificates = new Certificates(defaultCertificate);
  const connections = new Connections({ connectMs, answerMs }, clock);
  const tasks = new TaskGroup({ parent: signal });
  const reportProblems = problemReporter(options);
  const statusChanged = new ChangeSignal();
  let served: readonly networking.Ingress[] = [];
  let gateways: ServedGateways | undefined;
  try {
    if (options.ensuresClass === true) await ensureClass(options, signal);
    const followed = await followIngresses({
      ...{ client, clock, random, log, tasks, certificates, controller, className },
      localHosts: options.localHosts,
      tlsOf: (service, portName) => gateways?.tlsOf(service, portName),
      onReload: (routes, ingresses, problems) => {
        served = ingresses;
        metrics.reloaded(routes.size);
        reportProblems(ingresses, problems);
        statusChanged.mark();
      },
    });
    const { routes, backends } = followed;
    const { address } = options;
    const secured = { certificateOf: (name: string) => certificates.find(name), defaultCertificate };
    const streams = new StreamServer({
      ...{ address, backends, connectMs, metrics, maxConnections, clock, log, ...secured },
      find: (port, serverName) => gateways?.streams.find(port, serverName),
      onConnections: metrics.connected,
    });
    const server = await startHttpServer({
      ...{
        // Routes of the Gateway API go first.
        findRoute: (request) => gateways?.routes.find(request) ?? routes().find(request.host, request.path),
        backends,
        connections,
        metrics,
        trustsForwarded,
        maxBodyBytes,
        maxConnections,
        connectMs,
        bodyIdleMs: BODY_IDLE_MS,
        clock,
        log,
      },
      ...{ address, httpPort: options.httpPort, httpsPort: options.httpsPort, ...secured },
      takerOf: (socket, port, hello) => streams.taker(socket, port, hello),
    });
    try {
      options.onReady?.({ http: server.httpPort, https: server.httpsPort });
      const ports = new Map<number, "HTTP" | "HTTPS">();
      if (server.httpPort !== undefined) ports.set(server.httpPort, "HTTP");
      if (server.httpsPort !== undefined) ports.set(server.httpsPort, "HTTPS");
      const following = {
        ...{
          client,
          clock,
          random,
          log,
          tasks,
          ports,
          addresses: options.publishedAddresses ?? [],
          known: followed.known,
        },
        openPorts: (wanted: ReadonlySet<number>) => streams.listen(wanted),
        onRoutes: (made: ServedGateways) => {
          gateways = made;
          certificates.setListeners(made.certificates);
          followed.reload();
        },
      };
      tasks.run("Gateway API", (running) => runGateways(following, running));
      tasks.run("status", (running) => writeStatuses(options, () => served, followed, statusChanged, running));
      await tasks.done();
    } finally {
      await Promise.all([server.stop(drainMs), streams.stop(drainMs)]);
    }
  } finally {
    connections.close();
    await tasks.stop();
  }
}

async function writeStatuses(
  { client, clock, random, log, publishedAddresses = [], publishedService, localHosts = false }: IngressOptions,
  served: () => readonly networking.Ingress[],
  { services }: Followed,
  changed: ChangeSignal,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ initialMs: 500, maxMs: 60_000, jitter: 0.2 }, random);
  for (;;) {
    await changed.wait(clock, STATUS_RETRY_MS, signal);
    const addresses =
      publishedService === undefined
        ? publishedAddresses.map(addressOf)
        : (services(publishedService)?.status?.loadBalancer?.ingress ?? []).map(({ ip, hostname: name }) => ({
            ...(ip !== undefined && { ip }),
            ...(name !== undefined && { hostname: name }),
          }));
    if (addresses.length === 0) continue;
    const addressesOf = (ingress: networking.Ingress) => [
      ...addresses,
      ...(localHosts ? [{ hostname: localHostOf(ingress) }] : []),
    ];
    if (await writeStatus(client, served(), addressesOf, log, signal)) {
      backoff.reset();
      continue;
    }
    changed.mark();
    await clock.sleep(backoff.next(), signal);
  }
}

async function ensureClass(options: IngressOptions, signal: AbortSignal): Promise<void> {
  const { client, log, controller = CONTROLLER, className = CLASS_NAME } = options;
  try {
    await client.of(kinds.IngressClass).create({ metadata: { name: className }, spec: { controller } }, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    if (isStatusError(error) && error.reason === "AlreadyExists") return;
    log.warn("the IngressClass could not be created", { class: className, error });
  }
}

/** Reports each problem once, as an Event and in the log. */
function problemReporter({ client, clock, random, log }: IngressOptions) {
  const recorder = eventRecorder({
    ...{ events: client.of(kinds.Event), clock, random, log },
    controller: "k8ts-ingress",
    instance: hostname(),
  });
  let reported = new Set<string>();
  return (ingresses: readonly networking.Ingress[], problems: readonly RouteProblem[]) => {
    const byKey = new Map(ingresses.map((ingress) => [objectKey(ingress), ingress]));
    const now = new Set<string>();
    for (const { ingress, reason, message } of problems) {
      const id = `${ingress} ${reason} ${message}`;
      now.add(id);
      if (reported.has(id)) continue;
      log.warn("an Ingress cannot be served as specified", { ingress, reason, message });
      const about = byKey.get(ingress);
      if (about !== undefined) recorder.record({ about, type: "Warning", reason, note: message });
    }
    reported = now;
  };
}
