/**
 * A component's own HTTPS server: /healthz, /livez and /readyz for everybody, /metrics and reports for authorized
 * users.
 *
 * 1. Without a configured certificate it creates one for the lifetime of the process, as upstream does.
 * 2. Authentication and authorization are delegated to the API server: see delegated-access.ts.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { answerHealth, type HealthCheck } from "#apiserver";
import { type Clock, type Logger, type MetricsRegistry, metricsContentType, STRONG_CIPHERS } from "#base";
import type { Client } from "#client";
import { createAuthority, type KeyPair } from "#pki";
import { ClusterError } from "../config/errors.ts";
import { readFlag } from "../config/flag-files.ts";
import { mayRead } from "./delegated-access.ts";

export const PING: HealthCheck = { name: "ping", check: async () => {} };
export const HEALTH = ["healthz", "livez", "readyz"];

export interface ComponentServing {
  readonly bindAddress: string;
  readonly port: number;
  readonly tlsCertFile?: string | undefined;
  readonly tlsPrivateKeyFile?: string | undefined;
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
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string | undefined;
}

export async function serveComponent(serving: ComponentServing, served: Served): Promise<ComponentServer> {
  const { bindAddress, port } = serving;
  const { certPem, keyPem } = await certificateOf(serving, served);
  const server = createServer({
    cert: certPem,
    key: keyPem,
    minVersion: "TLSv1.2",
    ciphers: STRONG_CIPHERS.join(":"),
  });
  server.on("request", (request, response) => {
    const send = ({ status, body, type = "text/plain; charset=utf-8" }: Answer) => {
      response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body);
    };
    answer(request, served).then(send, (error: unknown) => {
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

async function answer({ url = "/", headers }: IncomingMessage, served: Served): Promise<Answer> {
  const { client, log, metrics, reports, texts = {}, readiness = [] } = served;
  const { pathname, searchParams } = new URL(url, "https://component");
  const [, endpoint = "", ...only] = pathname.split("/");
  if (HEALTH.includes(endpoint)) {
    const exclude = searchParams.getAll("exclude");
    const asked = { endpoint, verbose: searchParams.has("verbose"), exclude };
    const checks = endpoint === "readyz" ? [PING, ...readiness] : [PING];
    return answerHealth({ ...asked, ...(only.length > 0 && { only: only.join("/") }) }, checks, log);
  }
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const verdict = await mayRead(client, pathname, token);
  if (verdict === "unknown") return { status: 401, body: "Unauthorized\n" };
  if (verdict !== "allowed") return { status: 403, body: `${verdict.denied}\n` };
  const text = pathname === "/metrics" ? () => metrics.text() : Object.hasOwn(texts, pathname) && texts[pathname];
  if (text) return { status: 200, body: text(), type: metricsContentType };
  const report = reports !== undefined && Object.hasOwn(reports, pathname) ? reports[pathname] : undefined;
  if (report !== undefined) {
    return { status: 200, body: `${JSON.stringify(report(searchParams))}\n`, type: "application/json" };
  }
  return { status: 404, body: "404 page not found\n" };
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
