/**
 * A component's own HTTPS server: /healthz, /livez and /readyz for everybody, /metrics and reports for authorized
 * users.
 *
 * 1. Without a configured certificate it creates one for the lifetime of the process, as upstream does.
 * 2. Authentication and authorization are delegated to the API server: see delegated-access.ts.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import type { SecureContextOptions } from "node:tls";
import type { Features } from "#api";
import { answerHealth, answerZPage, type HealthCheck, healthMetrics, servedZPages, versionInfo } from "#apiserver";
import {
  type Clock,
  type Logger,
  MetricsRegistry,
  metricsContentType,
  requestTarget,
  STRONG_CIPHERS,
  table,
} from "#base";
import type { Client } from "#client";
import { createAuthority, type KeyPair } from "#pki";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { type TlsFlags, tlsSettings } from "../config/tls-settings.ts";
import { mayRead } from "./delegated-access.ts";

export const PING: HealthCheck = { name: "ping", check: async () => {} };
export const HEALTH = ["healthz", "livez", "readyz"];
export const NOT_FOUND: Answer = { status: 404, body: "404 page not found\n" };

export interface ComponentServing {
  readonly bindAddress: string;
  readonly port: number;
  readonly tlsCertFile?: string | undefined;
  readonly tlsPrivateKeyFile?: string | undefined;
  /** Versions and cipher suites. Default: TLS 1.2, strong suites. */
  readonly tls?: TlsFlags | undefined;
}

/** Of a server without HTTP/2. Throws ClusterError. */
export function tlsOf({ tls = {} }: ComponentServing): SecureContextOptions {
  const { minVersion = "TLSv1.2", ciphers = STRONG_CIPHERS.join(":") } = tlsSettings(tls, false);
  return { minVersion, ciphers };
}

export interface ComponentServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface Served {
  readonly name: string;
  /** Delegates authentication and authorization. */
  readonly client: Client;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Additional reports as JSON, by path. */
  readonly reports?: Readonly<Record<string, (query: URLSearchParams) => object>> | undefined;
  /** Additional metrics, by path. */
  readonly texts?: Readonly<Record<string, () => string>> | undefined;
  /** Additional checks of /readyz. */
  readonly readiness?: readonly HealthCheck[] | undefined;
  readonly features: Features;
  /** For /flagz: values by the flags' names. */
  readonly flags: Readonly<Record<string, string>>;
}

/** The answers that need no authorization, and those that do. */
export interface ComponentPages {
  health(path: string, query: URLSearchParams): Promise<Answer> | undefined;
  /** Undefined: there is no such page. */
  page(path: string, query: URLSearchParams, accept: string | undefined): Answer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export async function serveComponent(serving: ComponentServing, served: Served): Promise<ComponentServer> {
  const { bindAddress, port } = serving;
  const { certPem, keyPem } = await certificateOf(serving, served);
  const server = createServer({ cert: certPem, key: keyPem, ...tlsOf(serving) });
  const pages = componentPages(served);
  server.on("request", (request, response) => {
    const send = (reply: Answer) => sendAnswer(response, reply);
    answer(request, served, pages).then(send, (error: unknown) => {
      served.log.warn("a request could not be served", { path: request.url, error });
      send({ status: 500, body: "Internal Server Error\n" });
    });
  });
  server.listen(port, bindAddress);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw new ClusterError(
      `${served.name} cannot listen on ${bindAddress} port ${port} (${error.code ?? error.message}): choose another with --bind-address and --secure-port.`,
      { cause: error },
    );
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer({ url, headers }: IncomingMessage, { client }: Served, pages: ComponentPages): Promise<Answer> {
  const { path, query } = requestTarget(url);
  const health = pages.health(path, query);
  if (health !== undefined) return health;
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const verdict = await mayRead(client, path, token);
  if (verdict === "unknown") return { status: 401, body: "Unauthorized\n" };
  if (verdict !== "allowed") return { status: 403, body: `${verdict.denied}\n` };
  return pages.page(path, query, headers.accept) ?? NOT_FOUND;
}

/** What a component serves, whoever may see it. */
export function componentPages(served: Omit<Served, "client">): ComponentPages {
  const { name, clock, log, metrics, features, flags } = served;
  const texts = table({ ...served.texts });
  const reports = table({ ...served.reports });
  const startedMs = performance.timeOrigin;
  const indicators = new MetricsRegistry();
  const observe = healthMetrics(indicators, startedMs);
  const pages = servedZPages(features);
  const others = [...Object.keys(texts), ...Object.keys(reports)].filter((path) => !path.startsWith("/k8ts/"));
  const paths = [...HEALTH, "metrics", "metrics/slis", ...pages].map((path) => `/${path}`).concat(others);
  const facts = { name, startedMs, flags, paths: paths.sort(), served: pages, version: versionInfo(features) };
  return {
    health(path, query) {
      const [, endpoint = "", ...only] = path.split("/");
      if (!HEALTH.includes(endpoint)) return undefined;
      const asked = { endpoint, verbose: query.has("verbose"), exclude: query.getAll("exclude") };
      const checks = endpoint === "readyz" ? [PING, ...(served.readiness ?? [])] : [PING];
      return answerHealth({ ...asked, ...(only.length > 0 && { only: only.join("/") }) }, checks, log, observe);
    },
    page(path, query, accept) {
      if (path === "/metrics") return typed(metrics.text(), metricsContentType);
      if (path === "/metrics/slis") return typed(indicators.text(), metricsContentType);
      const text = texts[path];
      if (text !== undefined) return typed(text(), metricsContentType);
      const report = reports[path];
      if (report !== undefined) return typed(`${JSON.stringify(report(query))}\n`, "application/json");
      return answerZPage(path, accept, facts, clock.now());
    },
  };
}

function typed(body: string, type: string): Answer {
  return { status: 200, body, headers: { "content-type": type } };
}

export function sendAnswer(response: ServerResponse, { status, body, headers }: Answer): void {
  const common = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  response.writeHead(status, { ...common, ...headers }).end(body);
}

export async function certificateOf(
  { bindAddress, tlsCertFile, tlsPrivateKeyFile }: ComponentServing,
  { name, clock }: Pick<Served, "name" | "clock">,
): Promise<KeyPair> {
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    return {
      certPem: await readFlag("--tls-cert-file", tlsCertFile),
      keyPem: await readFlag("--tls-private-key-file", tlsPrivateKeyFile),
    };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new ClusterError("--tls-cert-file and --tls-private-key-file belong together: give both or none.");
  }
  const any = bindAddress === "0.0.0.0" || bindAddress === "::";
  const authority = await createAuthority({ commonName: `${name}-ca`, clock });
  return authority.issue({
    commonName: name,
    dnsNames: ["localhost", hostname()],
    ipAddresses: ["127.0.0.1", ...(any || bindAddress === "127.0.0.1" ? [] : [bindAddress])],
    usages: ["server"],
  });
}
