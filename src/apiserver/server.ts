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
import { builtIn } from "#api";
import { type Clock, type Logger, type MetricsRegistry, type Random, TaskGroup } from "#base";
import type { Store } from "#store";
import { admissionChain, defaultPlugins } from "./admission/index.ts";
import { allocators } from "./allocate/index.ts";
import { authenticator } from "./authn/authenticator.ts";
import type { UserInfo } from "./authn/user.ts";
import { mastersOnly } from "./authz/authorizer.ts";
import { advertise, bootstrap, type Identity, renewIdentity } from "./bootstrap/index.ts";
import { StoreFeed } from "./cache/feed.ts";
import { connectors } from "./connect/index.ts";
import { expireEvents } from "./expire/index.ts";
import type { HealthCheck } from "./health.ts";
import { httpHandlers } from "./http/adapter.ts";
import { type Listener, listen, type ServingCertificate } from "./listener.ts";
import { requestMetrics } from "./metrics.ts";
import { type Handle, passThrough, pipeline } from "./pipeline.ts";
import { STORE_PREFIX } from "./rest/resource.ts";
import { Resources } from "./rest/resources.ts";
import type { ServerContext } from "./rest/server-context.ts";
import { nonResourceRoutes } from "./routes.ts";

/** A watcher that missed no more than this goes on after a restart as if nothing had been. */
const RESUMABLE_CHANGES = 5_000;
const SHUTDOWN_GRACE_MS = 5_000;
const HEALTH_TIMEOUT_MS = 2_000;

export interface ApiServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: ServingCertificate;
  readonly store: Store;
  /** Other servers write to the same store. */
  readonly sharedStore: boolean;
  /** How long Events are kept. Default: an hour. */
  readonly eventTtlMs?: number;
  /** The authority whose clients may speak for others by headers, and how these clients are called. */
  readonly requestHeader?: { readonly ca: string; readonly allowedNames: readonly string[] };
  /** Static bearer tokens and whom they stand for. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export interface ApiServer {
  readonly port: number;
  /** The whole pipeline, for components in the same process. */
  readonly handle: Handle;
  renewCertificate(certificate: ServingCertificate): void;
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock, random, log, metrics } = options;
  const stopping = new AbortController();
  const background = new TaskGroup({ onFailure: ({ task, error }) => log.error(`${task} ended`, { error }) });

  const feed = new StoreFeed({ store, prefix: STORE_PREFIX, clock, log });
  const resources = new Resources(feed);
  for (const kind of builtIn) resources.add(kind);
  const allocation = allocators({ context: () => context, resources, feed, clock, log });
  const newest = await feed.load(RESUMABLE_CHANGES);
  background.run("store feed", (signal) => feed.run(signal));

  const context: ServerContext = {
    store,
    feed,
    clock,
    random,
    log,
    admission: admissionChain(defaultPlugins, resources, () => context),
    allocators: allocation.byResource,
    newUid: randomUUID,
    sharedStore: options.sharedStore,
  };
  let listening: Listener | undefined;
  try {
    await feed.reached(newest);
    await bootstrap(context, resources, { clientCa: options.certificate.clientCaPem, ...requestHeaderOf(options) });
    background.run("service allocation repair", (signal) => allocation.repair(signal));
    const authenticate = authenticator(options.tokens ?? new Map());
    const handle = pipeline({
      authenticate,
      audit: requestMetrics(metrics, clock),
      flowControl: passThrough,
      authorize: mastersOnly,
      dispatch: {
        context,
        resources,
        stopping: stopping.signal,
        connectors: connectors({ context, resources, authenticate, authorize: mastersOnly }),
      },
      nonResource: nonResourceRoutes({
        context,
        kinds: builtIn,
        metrics,
        health: healthChecks(store, stopping.signal),
      }),
      log,
    });
    const listener = await listen({ ...options, handlers: httpHandlers(handle, log) });
    listening = listener;
    const identity: Identity = { hostname: hostname(), port: listener.port, address: options.host, uid: randomUUID() };
    await advertise(context, resources, identity);
    background.run("identity lease", (signal) => renewIdentity(context, resources, identity, signal));
    background.run("event expiry", (signal) =>
      expireEvents(
        { context, resources, ...(options.eventTtlMs !== undefined && { ttlMs: options.eventTtlMs }) },
        signal,
      ),
    );
    return {
      port: listener.port,
      handle,
      renewCertificate: listener.renew,
      async stop() {
        stopping.abort();
        await listener.close(SHUTDOWN_GRACE_MS);
        await background.stop();
      },
    };
  } catch (error) {
    await listening?.close(0);
    await background.stop();
    throw error;
  }
}

function requestHeaderOf({ requestHeader }: ApiServerOptions) {
  return requestHeader === undefined ? {} : { requestHeader };
}

function healthChecks(store: Store, stopping: AbortSignal): Readonly<Record<string, readonly HealthCheck[]>> {
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
  return { healthz: [ping, etcd], livez: [ping, etcd], readyz: [ping, etcd, shutdown] };
}
