/**
 * The API server as a part of a process: the assembled server, a port, and the tasks that keep the cluster's view of
 * it.
 *
 *     client ──► listener ──► adapter ──► pipeline ──► verb ──► cache
 *                                                       └═══► store --► feed --► caches --► watchers
 *
 * 1. It listens only when its caches show everything that the store has.
 * 2. While it stops, /readyz fails first, watches end, and requests under way are finished. `shutdown.ts` has the
 *    options of it.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { JsonObject } from "#api";
import type { MetricsRegistry } from "#base";
import { type AssembledServer, assembleApiServer } from "./assembly/assemble.ts";
import type { WriteLines } from "./audit/index.ts";
import type { AuthenticationConfiguration } from "./authn/index.ts";
import type { Authorization, ModeSpec } from "./authz/index.ts";
import { type Identity, Membership, publishAuthentication, reportTo } from "./bootstrap/index.ts";
import { expireEvents } from "./expire/index.ts";
import { httpHandlers } from "./http/adapter.ts";
import type { Handle } from "./http/exchange.ts";
import { type ConnectionSettings, type Listener, listen } from "./http/listener.ts";
import type { ServingCertificate } from "./http/tls-servers.ts";
import type { ApiServerOptions } from "./server-options.ts";
import { authenticationFacts, type ServerFront, serverParts } from "./server-parts.ts";
import { Shutdown } from "./shutdown.ts";
import { countObjects, measureStore } from "./storage/index.ts";
import { inStep, isFirst } from "./threads/index.ts";

const SHUTDOWN_GRACE_MS = 5_000;
/** For requests under way at an address that is about to move. */
const ADDRESS_GRACE_MS = 300;

export interface ApiServer {
  readonly port: number;
  /** The whole pipeline, for components in the same process. */
  readonly handle: Handle;
  /** Opens the port at one more address; what it returns ends that. */
  readonly openAt: (address: string) => Promise<() => Promise<void>>;
  renewCertificate(certificate: ServingCertificate): void;
  /** A token of a service account with these claims. */
  readonly signToken: (claims: object) => Promise<string>;
  /** Throws ConfigurationError, and leaves everything as it is, if the configuration is invalid. */
  configureAuthentication(configuration: AuthenticationConfiguration, file: string): void;
  /** Throws AuthorizationConfigError, and leaves everything as it is, if the modes are invalid. */
  configureAuthorization(modes: readonly ModeSpec[]): void;
  /** Asks this share of the clients with HTTP/2 to connect again for their next requests. */
  spread(share: number): void;
  /** Writes lines of other threads to the audit log. Absent: there is none. */
  readonly writeAuditLines: WriteLines | undefined;
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const shutdown = new Shutdown(options.serving, options);
  const place = { host: options.advertiseAddress ?? options.host, port: options.port, joined: false, shutdown };
  const server = inStepWithOthers(await assembleApiServer(serverParts(options, place)), options);
  try {
    const listener = await openPort(options, server);
    place.port = listener.port;
    const membership = isFirst(options.thread) ? await joinCluster(options, server, listener.port) : undefined;
    place.joined = true;
    return running(options, server, { leave: async () => membership?.leave(), listener, shutdown });
  } catch (error) {
    await server.closing.disposeAsync();
    throw error;
  }
}

type Assembled = AssembledServer<Authorization, ServerFront>;

function inStepWithOthers(server: Assembled, { thread, clock }: ApiServerOptions): Assembled {
  if (thread === undefined) return server;
  return { ...server, handle: inStep(server.handle, { thread, feed: server.context.feed, clock }) };
}

async function openPort(options: ApiServerOptions, { handle, closing, stopping }: Assembled): Promise<Listener> {
  const certificate = withAuthorities(options.certificate, options);
  const handlers = httpHandlers(handle, options.log);
  const onHandshakeError = handshakeErrors(options.metrics);
  const listener = await listen({
    ...options,
    certificate,
    connections: connectionSettings(options),
    handlers,
    onHandshakeError,
  });
  // Requests under way are finished when the server stops; after a start that failed there are none.
  closing.defer(() => listener.close(stopping.aborted ? SHUTDOWN_GRACE_MS : 0));
  return listener;
}

function handshakeErrors(metrics: MetricsRegistry): () => void {
  const errors = metrics.counter({
    name: "apiserver_tls_handshake_errors_total",
    help: "Connections whose TLS handshake failed.",
    stability: "ALPHA",
  });
  return () => errors.labels().inc();
}

function connectionSettings({ serving = {}, random }: ApiServerOptions): ConnectionSettings {
  const { tls, sharedPort, goawayChance = 0, http2 } = serving;
  const goesAway = goawayChance > 0 ? () => random.next() < goawayChance : undefined;
  return { tls, sharedPort, http2: { ...http2, goesAway } };
}

/** Publishes where this server is, and begins its share of the cluster's upkeep. */
async function joinCluster(options: ApiServerOptions, server: Assembled, port: number): Promise<Membership> {
  const { context, resources, background } = server;
  const { clock } = options;
  const address = options.advertiseAddress ?? options.host;
  const identity: Identity = { hostname: hostname(), port, address, uid: randomUUID() };
  const { serviceCidrs, services } = options;
  const membership = new Membership({
    ...{ context, resources, identity, serviceCidrs, onFailure: reportTo(context) },
    nodePort: services?.kubernetesNodePort,
    reconciler: services?.endpointReconciler,
    count: services?.serverCount,
    isAlone: !options.sharedStore,
  });
  await membership.join();
  background.run("membership", (signal) => membership.keep(signal));
  const { countPeriodMs, sizeIntervalMs } = options.storage ?? {};
  background.run("object counts", (signal) => countObjects({ ...server, clock, periodMs: countPeriodMs }, signal));
  background.run("store size", (signal) => measureStore({ ...options, intervalMs: sizeIntervalMs }, signal));
  background.run("event expiry", (signal) => expireEvents({ context, resources, ttlMs: options.eventTtlMs }, signal));
  return membership;
}

interface Stopping {
  readonly leave: () => Promise<void>;
  readonly listener: Listener;
  readonly shutdown: Shutdown;
}

function running(options: ApiServerOptions, server: Assembled, { leave, listener, shutdown }: Stopping): ApiServer {
  const { context, resources, background, handle } = server;
  const { authn } = server.front;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await shutdown.run({ ...options, leave, listener });
    await server.close();
  };
  return {
    port: listener.port,
    handle,
    openAt: async (address) => {
      const close = await listener.openAt(address);
      return () => close(ADDRESS_GRACE_MS);
    },
    signToken: (claims) => authn.issuer.sign(claims as JsonObject),
    renewCertificate: (certificate) => {
      listener.renew(withAuthorities(certificate, options));
      authn.replaceClientCa(certificate.clientCaPem);
      const facts = authenticationFacts(certificate, options);
      background.run("authentication facts", () => publishAuthentication(context, resources, facts));
    },
    configureAuthentication: authn.configure,
    spread: (share) => listener.retire(() => options.random.next() < share),
    writeAuditLines: server.front.writeAuditLines,
    configureAuthorization: server.authorization.configure,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** TLS asks for client certificates of all these authorities; authentication decides what each is good for. */
function withAuthorities(certificate: ServingCertificate, { requestHeader }: ApiServerOptions): ServingCertificate {
  if (requestHeader === undefined) return certificate;
  return { ...certificate, clientCaPem: `${certificate.clientCaPem.trimEnd()}\n${requestHeader.ca}` };
}
