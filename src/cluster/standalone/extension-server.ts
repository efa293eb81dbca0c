/**
 * The HTTPS server of an extension API server in its own process.
 *
 *     API server (front-proxy certificate, X-Remote-User) ──┐
 *     client (token) ──► TokenReview ───────────────────────┴──► SubjectAccessReview ──► answer
 *
 * 1. The X-Remote-… headers are trusted only with a certificate of the authority that the cluster publishes in
 *    kube-system/extension-apiserver-authentication, and of a client with an allowed name.
 * 2. Health endpoints are for everybody.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { kinds } from "#api";
import { answerHealth, type HealthCheck } from "#apiserver";
import {
  type Clock,
  type Logger,
  type MetricsRegistry,
  metricsContentType,
  type RequestTarget,
  requestTarget,
} from "#base";
import type { CallOptions, Client } from "#client";
import { ClusterError } from "../config/errors.ts";
import { type ComponentServer, type ComponentServing, certificateOf, HEALTH, PING, tlsOf } from "./component-server.ts";
import { ANONYMOUS, type Attributes, mayDo, type User, userOf } from "./delegated-access.ts";

const RETRY_MS = 1_000;

export interface ExtensionAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

export interface ExtensionServed {
  readonly name: string;
  readonly client: Client;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly readiness: readonly HealthCheck[];
  readonly frontProxy: FrontProxy;
  /** What has to be allowed for a request. The path is decoded. */
  attributesOf(method: string, target: RequestTarget): Attributes;
  answer(request: {
    readonly method: string;
    readonly path: string;
    readonly accept: string | undefined;
  }): ExtensionAnswer | Promise<ExtensionAnswer>;
}

/** Who may name other users. */
export interface FrontProxy {
  readonly caPem: string;
  /** Empty: every client of the authority. */
  readonly allowedNames: readonly string[];
}

/** As the cluster publishes it. */
export async function readFrontProxy(client: Client, options: CallOptions = {}): Promise<FrontProxy> {
  const maps = client.of(kinds.ConfigMap).in("kube-system");
  const { data = {} } = await maps.get("extension-apiserver-authentication", options);
  const names: unknown = JSON.parse(data["requestheader-allowed-names"] ?? "[]");
  const allowedNames = Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  return { caPem: data["requestheader-client-ca-file"] ?? "", allowedNames };
}

/** The same, from an API server that may not be reachable yet. Undefined: the signal aborted before. */
export async function frontProxyOf(
  { client, clock, log }: Pick<ExtensionServed, "client" | "clock" | "log">,
  signal: AbortSignal,
): Promise<FrontProxy | undefined> {
  while (!signal.aborted) {
    try {
      return await readFrontProxy(client, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      log.warn("the cluster's authentication facts cannot be read yet", { error });
      await clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }
  return undefined;
}

export async function serveExtension(serving: ComponentServing, served: ExtensionServed): Promise<ComponentServer> {
  const { bindAddress, port } = serving;
  const { certPem, keyPem } = await certificateOf(serving, served);
  const { caPem } = served.frontProxy;
  // Without an authority no certificate may be taken for verified.
  const verifying = caPem === "" ? {} : { requestCert: true, rejectUnauthorized: false, ca: caPem };
  const server = createServer({ cert: certPem, key: keyPem, ...tlsOf(serving), ...verifying });
  server.on("request", (request, response) => {
    const send = ({ status, headers, body }: ExtensionAnswer) => void response.writeHead(status, headers).end(body);
    answer(request, served).then(send, (error: unknown) => {
      served.log.warn("a request could not be served", { path: request.url, error });
      send(text(500, "Internal Server Error\n"));
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

async function answer(request: IncomingMessage, served: ExtensionServed): Promise<ExtensionAnswer> {
  const { client, log, metrics, readiness } = served;
  const { url = "/", method = "GET", headers } = request;
  const parts = partsOf(url);
  if (parts === undefined) return text(400, "Bad Request\n");
  const { query } = requestTarget(url);
  const target = { path: `/${parts.join("/")}`, query };
  const [endpoint = "", ...only] = parts;
  if (HEALTH.includes(endpoint)) {
    const asked = { endpoint, verbose: query.has("verbose"), exclude: query.getAll("exclude") };
    const checks = endpoint === "readyz" ? [PING, ...readiness] : [PING];
    const found = await answerHealth({ ...asked, ...(only.length > 0 && { only: only.join("/") }) }, checks, log);
    return text(found.status, found.body);
  }
  const user = await userBehind(request, served);
  if (user === undefined) return text(401, "Unauthorized\n");
  const denied = await mayDo(client, user, served.attributesOf(method, target));
  if (denied !== undefined) return text(403, `${denied}\n`);
  if (target.path === "/metrics") return text(200, metrics.text(), metricsContentType);
  const path = `/${parts.map(encodeURIComponent).join("/")}`;
  return served.answer({ method, path: query.size > 0 ? `${path}?${query}` : path, accept: headers.accept });
}

/**
 * The decoded parts of the path, without empty ones: what is authorized is what is answered. Undefined: a part cannot
 * be decoded, or would be more than one.
 */
function partsOf(url: string): readonly string[] | undefined {
  try {
    const parts = requestTarget(url).path.split("/").map(decodeURIComponent);
    return parts.some((part) => part.includes("/")) ? undefined : parts.filter((part) => part !== "");
  } catch {
    return undefined;
  }
}

/** Undefined: the token is not valid. */
async function userBehind(
  request: IncomingMessage,
  { client, frontProxy }: ExtensionServed,
): Promise<User | undefined> {
  const { headers } = request;
  const named = headers["x-remote-user"];
  if (typeof named === "string" && isFrontProxy(request.socket as TLSSocket, frontProxy)) {
    const groups = request.headersDistinct["x-remote-group"] ?? [];
    return { user: named, groups };
  }
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined ? ANONYMOUS : userOf(client, token);
}

function isFrontProxy(socket: TLSSocket, { allowedNames }: FrontProxy): boolean {
  if (!socket.authorized) return false;
  const { subject } = socket.getPeerCertificate();
  return allowedNames.length === 0 || allowedNames.includes(String(subject?.CN ?? ""));
}

function text(status: number, body: string, type = "text/plain; charset=utf-8"): ExtensionAnswer {
  return { status, headers: { "content-type": type, "x-content-type-options": "nosniff" }, body };
}
