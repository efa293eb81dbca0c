/**
 * The API server as a part of a process: puts store, caches, pipeline and port together.
 *
 *     client ──► listener ──► adapter ──► pipeline ──► verb ──► cache
 *                                                       └═══► store --► feed --► caches --► watchers
 *
 * 1. It listens only when its caches show all that the store has.
 * 2. While it stops, /readyz says so first, watches end, and what is under way is finished.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { builtIn, type JsonObject } from "#api";
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import type { Recorder } from "#flows";
import type { Store } from "#store";
import {
  type AdmissionOptions,
  type AdmissionPlugin,
  admissionChain,
  clusterView,
  selectPlugins,
} from "./admission/index.ts";
import { aggregation, type FrontProxyIdentity } from "./aggregation/index.ts";
import { allocators } from "./allocate/index.ts";
import { type Audit, type AuditSettings, audit, RequestIds } from "./audit/index.ts";
import {
  type AuthenticationConfiguration,
  type AuthenticationSettings,
  authentication,
  type RequestHeaderOptions,
} from "./authn/index.ts";
import { clusterObjects, noteTokenUse } from "./authn/server-objects.ts";
import { authorization, type ModeSpec, matchCondition } from "./authz/index.ts";
import {
  advertise,
  bootstrap,
  type Identity,
  nodeRules,
  publishAuthentication,
  renewIdentity,
} from "./bootstrap/index.ts";
import { StoreFeed } from "./cache/feed.ts";
import { type ConnectOptions, connectors } from "./connect/index.ts";
import { customResources } from "./custom-resources/index.ts";
import type { Encryption } from "./encryption/index.ts";
import { expireEvents } from "./expire/index.ts";
import { type Fairness, fairness, type InFlightLimits, maxInFlight } from "./fairness/index.ts";
import { Deliveries, flowObserver, flowsForEveryone } from "./flows/index.ts";
import { httpHandlers } from "./http/adapter.ts";
import type { Handle } from "./http/exchange.ts";
import { type Listener, listen, type ServingCertificate } from "./http/listener.ts";
import { type Past, Timeline } from "./past/index.ts";
import { pipeline } from "./pipeline/pipeline.ts";
import { requestMetrics } from "./pipeline/request-metrics.ts";
import { STORE_PREFIX } from "./rest/resource.ts";
import { Resources } from "./rest/resources.ts";
import type { ServerContext } from "./rest/server-context.ts";
import { apiDocuments } from "./routes/api-documents.ts";
import type { HealthCheck } from "./routes/health.ts";
import { nonResourceRoutes, type RouteOptions } from "./routes/routes.ts";

/** A watcher that missed no more than this goes on after a restart as if nothing had been. */
const RESUMABLE_CHANGES = 5_000;
const SHUTDOWN_GRACE_MS = 5_000;
const HEALTH_TIMEOUT_MS = 2_000;
const HISTORY_WINDOW_MS = 10 * 60_000;

export interface ApiServerOptions {
  readonly host: string;
  readonly port: number;
  /** Addresses besides `host` at which it listens. */
  readonly alsoAt?: readonly string[];
  readonly certificate: ServingCertificate;
  readonly store: Store;
  /** Other servers write to the same store. */
  readonly sharedStore: boolean;
  /** How values are encrypted in the store. Default: they are kept as they are. */
  readonly encryption?: Encryption;
  /** How long Events are kept. Default: an hour. */
  readonly eventTtlMs?: number;
  /** The authority whose clients may speak for others by headers, and how these clients are called. */
  readonly requestHeader?: RequestHeaderOptions;
  /** Ways to show who one is besides a certificate. */
  readonly authentication?: AuthenticationSettings;
  /** Who may do what, in the order in which they are asked. Default: Node, RBAC. */
  readonly authorizationModes?: readonly ModeSpec[];
  /** Which admission plugins run, and how. Default: those that are on by default. */
  readonly admission?: AdmissionOptions;
  /** What is recorded of requests, and where. Default: nothing. */
  readonly audit?: AuditSettings;
  /** How much at a time. Default: priority and fairness, 400 requests that read and 200 that write. */
  readonly fairness?: FairnessSettings;
  /** Where Services get their addresses: one range of each family at most; the first is the default. */
  readonly serviceCidrs?: readonly string[];
  /** Where others reach this server, if not at its host. */
  readonly advertiseAddress?: string;
  /** Who this server is to API servers behind it, as of now. */
  readonly frontProxyIdentity?: () => FrontProxyIdentity | undefined;
  /** Who this server is to kubelets, as of now. */
  readonly kubeletIdentity?: ConnectOptions["kubeletIdentity"];
  /** How kubelets are reached, where it is not as usual. */
  readonly kubelets?: ConnectOptions["kubelets"];
  /** Keeps what happens, so that it can be shown. Default: nothing is kept. */
  readonly recorder?: Recorder;
  /** How long the store keeps what was. Default: 10 minutes. */
  readonly historyWindowMs?: number;
  /** Paths that other parts of the process answer. */
  readonly others?: RouteOptions["others"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface FairnessSettings extends Partial<InFlightLimits> {
  /** `--enable-priority-and-fairness`: both limits together are the seats of all levels. Without it, each counts for itself. */
  readonly fair?: boolean;
}

export interface ApiServer {
  readonly port: number;
  /** The whole pipeline, for components in the same process. */
  readonly handle: Handle;
  renewCertificate(certificate: ServingCertificate): void;
  /** A token of a service account with these claims. Absent without a key to sign it with. */
  readonly signToken?: (claims: object) => Promise<string>;
  /** Throws ConfigurationError, and leaves everything as it is, if the configuration makes no sense. */
  configureAuthentication(configuration: AuthenticationConfiguration, file: string): void;
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { encryption, clock, random, log, metrics } = options;
  const store = encryption?.over(options.store) ?? options.store;
  const stopping = new AbortController();
  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });

  const feed = new StoreFeed({ store, prefix: STORE_PREFIX, clock, log });
  const resources = new Resources(feed);
  for (const kind of builtIn) resources.add(kind);
  const plugins = selectPlugins(options.admission ?? {}, {
    resources,
    context: () => context,
    authorize: (attributes) => authz.authorize(attributes),
  });
  const documents = apiDocuments(builtIn);
  const surroundings = { clock, random, log, newUid: () => randomUUID() };
  const aggregated = aggregation({
    context: () => context,
    resources,
    kinds: builtIn,
    documents,
    identity: options.frontProxyIdentity ?? (() => undefined),
    metrics,
    stopping: stopping.signal,
  });
  const custom = customResources({
    context: () => context,
    surroundings,
    resources,
    documents: [aggregated.documents],
  });
  await custom.load(store);
  const { serviceCidrs } = options;
  const ranges = serviceCidrs === undefined ? {} : { serviceCidrs };
  const allocation = allocators({ context: () => context, resources, feed, clock, log, ...ranges });
  const newest = await feed.load(RESUMABLE_CHANGES);
  const { authorizationModes: modes } = options;
  const authz = authorization({
    ...(modes !== undefined && { modes }),
    resources,
    feed,
    nodeRules: nodeRules(),
    compileCondition: matchCondition,
    metrics,
    clock,
    random,
    log,
  });
  background.run("store feed", (signal) => feed.run(signal));

  const deliveries = options.recorder && new Deliveries(options.recorder, () => clock.now());
  const context: ServerContext = {
    store,
    feed,
    clock,
    random,
    log,
    admission: custom.guarding(
      admissionChain(
        plugins,
        clusterView(resources, () => context),
      ),
    ),
    access: authz.writeAccess,
    allocators: allocation.byResource,
    newUid: surroundings.newUid,
    sharedStore: options.sharedStore,
    ...(deliveries !== undefined && { deliveries: (user, agent) => deliveries.to(user, agent) }),
    ...(encryption !== undefined && { isOutdated: (key: string) => encryption.isOutdated(key) }),
  };
  const authn = authentication({
    settings: options.authentication ?? {},
    clientCa: options.certificate.clientCaPem,
    requestHeader: options.requestHeader,
    objects: clusterObjects(context, resources),
    noteUse: (secret, day) => noteTokenUse(context, resources, secret, day),
    clock,
    random,
    log,
  });
  let listening: Listener | undefined;
  let flow: Fairness | undefined;
  let audited: Audit | undefined;
  try {
    await feed.reached(newest);
    await custom.sync();
    background.run("custom resources", (signal) => custom.run(signal));
    await bootstrap(context, resources, { ...authorities(options.certificate, options), ...ranges });
    background.run("service allocation repair", (signal) => allocation.repair(signal));
    await aggregated.sync();
    background.run("aggregation", (signal) => aggregated.run(signal));
    const { fair = true, reading = 400, mutating = 200 } = options.fairness ?? {};
    flow = fair ? fairness({ context, resources, metrics, total: reading + mutating }) : undefined;
    audited = await audit({
      settings: options.audit ?? {},
      resources,
      ids: new RequestIds(),
      clock,
      random,
      log,
      metrics,
    });
    const past = pastOf(feed, options, clock);
    const { recorder } = options;
    const recorded = recorder && flowObserver({ recorder, revision: () => feed.revision, clock });
    const { audit: auditStep, turnedAway } = audited;
    const handle = pipeline({
      authenticate: authn.authenticate,
      isCredential: authn.isCredential,
      count: requestMetrics(metrics, clock, recorded),
      audit: auditStep,
      turnedAway,
      fairness: flow?.step ?? maxInFlight({ reading, mutating }),
      authorize: flowsForEveryone(authz.authorize),
      dispatch: {
        context,
        resources,
        stopping: stopping.signal,
        appearing: custom.appearing,
        past,
        connectors: connectors({
          context,
          resources,
          ...authn,
          tokens: authn.issuer,
          ...authz,
          stopping: stopping.signal,
          ...(options.kubeletIdentity && { kubeletIdentity: options.kubeletIdentity }),
          ...(options.kubelets && { kubelets: options.kubelets }),
        }),
      },
      elsewhere: aggregated.serve,
      nonResource: nonResourceRoutes({
        context,
        rawStore: options.store,
        documents,
        metrics,
        past,
        health: healthChecks(store, stopping.signal, encryption),
        ...(flow !== undefined && { debug: flow.dump }),
        ...(recorder !== undefined && {
          flows: {
            recorder,
            authorize: authz.authorize,
            revision: () => feed.revision,
            clock,
            stopping: stopping.signal,
          },
        }),
        ...(options.others !== undefined && { others: options.others }),
        issuerDocuments: () => authn.documents(serverUrl(options.host, listening?.port ?? options.port)),
      }),
      log,
    });
    const certificate = withAuthorities(options.certificate, options);
    const listener = await listen({ ...options, certificate, handlers: httpHandlers(handle, log) });
    listening = listener;
    const { issuer } = authn;
    const address = options.advertiseAddress ?? options.host;
    const identity: Identity = { hostname: hostname(), port: listener.port, address, uid: randomUUID() };
    await advertise(context, resources, identity, serviceCidrs);
    background.run("identity lease", (signal) => renewIdentity(context, resources, identity, signal));
    const { run: keepFairness } = flow ?? {};
    if (keepFairness !== undefined) background.run("priority and fairness", keepFairness);
    background.run("event expiry", (signal) =>
      expireEvents(
        { context, resources, ...(options.eventTtlMs !== undefined && { ttlMs: options.eventTtlMs }) },
        signal,
      ),
    );
    return {
      port: listener.port,
      handle,
      ...(issuer !== undefined && { signToken: (claims: object) => issuer.sign(claims as JsonObject) }),
      renewCertificate: (fresh) => {
        listener.renew(withAuthorities(fresh, options));
        authn.replaceClientCa(fresh.clientCaPem);
        const facts = authorities(fresh, options);
        background.run("authentication facts", () => publishAuthentication(context, resources, facts));
      },
      configureAuthentication: authn.configure,
      async stop() {
        stopping.abort();
        flow?.close();
        await listener.close(SHUTDOWN_GRACE_MS);
        closePlugins(plugins);
        authz.close();
        await authn.close();
        await background.stop();
        await audited?.close();
      },
    };
  } catch (error) {
    flow?.close();
    await listening?.close(0);
    closePlugins(plugins);
    authz.close();
    await authn.close();
    await background.stop();
    await audited?.close();
    throw error;
  }
}

/** From now on, it is known which revision was when. */
function pastOf(
  feed: StoreFeed,
  { historyWindowMs: windowMs = HISTORY_WINDOW_MS, recorder }: ApiServerOptions,
  clock: Clock,
): Past {
  const timeline = new Timeline(windowMs);
  // What was recorded before a restart says when that was.
  for (const record of recorder?.records() ?? [])
    if (record.type === "request" && record.written !== undefined)
      timeline.note(record.written.revision, record.written.at);
  timeline.note(feed.revision, clock.now());
  feed.advanced = (revision) => timeline.note(revision, clock.now());
  return { timeline, windowMs };
}

function closePlugins(plugins: readonly AdmissionPlugin[]): void {
  for (const plugin of plugins) plugin.close?.();
}

/** TLS asks clients for a certificate of any of these; what one is good for is decided by authentication. */
function withAuthorities(certificate: ServingCertificate, { requestHeader }: ApiServerOptions): ServingCertificate {
  if (requestHeader === undefined) return certificate;
  return { ...certificate, clientCaPem: `${certificate.clientCaPem.trimEnd()}\n${requestHeader.ca}` };
}

function serverUrl(host: string, port: number): string {
  const address = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `https://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** What others may know of whom this server believes. */
function authorities({ clientCaPem }: ServingCertificate, { requestHeader }: ApiServerOptions) {
  return {
    ...(clientCaPem !== "" && { clientCa: clientCaPem }),
    ...(requestHeader !== undefined && { requestHeader }),
  };
}

function healthChecks(
  store: Store,
  stopping: AbortSignal,
  encryption?: Encryption,
): Readonly<Record<string, readonly HealthCheck[]>> {
  const ping: HealthCheck = { name: "ping", check: async () => {} };
  const etcd: HealthCheck = {
    name: "etcd",
    check: async () => void (await store.revision({ timeoutMs: HEALTH_TIMEOUT_MS })),
  };
  const shutdown: HealthCheck = {
    name: "shutdown",
    check: async () => {
      if (stopping.aborted) throw new Error("the server is stopping");
    },
  };
  const keys = encryption === undefined ? [] : [encryption.health];
  return { healthz: [ping, etcd, ...keys], livez: [ping, etcd, ...keys], readyz: [ping, etcd, ...keys, shutdown] };
}
