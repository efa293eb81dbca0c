/**
 * An HTTP proxy on this machine for image pulls: closed in a cluster without outside.
 *
 *     containerd ──► proxy (secret) ──► registryAddress ──► registry
 *                        └─ pulls are off ────┴─ it is no registry ──► 403 with a reason, which the Pod's event shows
 *
 * 1. Clients need the secret: containerd has it, Pods do not.
 * 2. Closing it closes all its connections.
 * 3. It connects to registries only: never to this machine or a private network, unless the user has named them.
 */
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "#base";
import type { RewrittenEndpoint } from "../../registries/index.ts";
import { type RegistryRules, registryAddress } from "./registry-address.ts";
import { passToEndpoint, rewrittenTarget } from "./rewritten.ts";

/** Nothing else listens on the machine's address in the nodes' network. */
export const PROXY_PORT = 3128;
const USER = "k8ts";
/** Sent in the status line: containerd reports it as the reason. */
const PULLS_ARE_OFF = "image pulls are off: this cluster has no outside (use k8ts image import, or k8ts up --outside)";

export interface PullProxyOptions extends RegistryRules {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly secret: string;
  readonly allowed: boolean;
  /** Endpoints with rewrites. Default: none. */
  readonly rewrites?: (() => ReadonlyMap<string, RewrittenEndpoint>) | undefined;
  readonly log: Logger;
}

export interface PullProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** The environment of containerd. `ranges`: the cluster's own addresses, which are reached directly. */
export function proxyEnv(
  host: string,
  port: number,
  secret: string,
  ranges: readonly string[],
): Record<string, string> {
  const url = `http://${USER}:${secret}@${host}:${port}`;
  const direct = ["localhost", "127.0.0.0/8", `${host}/24`, ...ranges].join(",");
  return { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: direct };
}

export async function openPullProxy(options: PullProxyOptions): Promise<PullProxy> {
  const { host, port } = options;
  const open = new Set<Duplex>();
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream);
    return stream.once("close", () => open.delete(stream));
  };
  const server = createServer((incoming, response) => {
    const rewritten = rewrittenTarget(incoming.url ?? "", options.secret, options.rewrites?.() ?? new Map());
    if (rewritten !== undefined) {
      if (options.allowed) passToEndpoint(incoming, response, rewritten, { log: options.log, track });
      else response.writeHead(403, PULLS_ARE_OFF).end();
      return;
    }
    const refusal = refuse(incoming, options);
    const target = URL.parse(incoming.url ?? "");
    if (refusal !== undefined || target?.protocol !== "http:") {
      response.writeHead(refusal?.status ?? 400, refusal?.reason ?? "no address").end();
      return;
    }
    void passOn(incoming, response, target, options, track);
  });
  server.on("connection", track);
  server.on("connect", (incoming: IncomingMessage, client: Duplex, first: Buffer) => {
    client.on("error", () => client.destroy());
    const refusal = refuse(incoming, options);
    if (refusal !== undefined) client.end(`HTTP/1.1 ${refusal.status} ${refusal.reason}\r\n\r\n`);
    else void tunnel(incoming.url ?? "", client, first, options, track);
  });
  await listening(server, host, port);
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const stream of open) stream.destroy();
      await closed;
    },
  };
}

type Track = (socket: Socket) => Socket;

/** A request without TLS. */
async function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  options: PullProxyOptions,
  track: Track,
): Promise<void> {
  const { "proxy-authorization": _secret, "proxy-connection": _hop, ...headers } = incoming.headers;
  const port = Number(target.port || 80);
  const found = await addressOf(target.hostname, port, "http", options);
  if ("refusal" in found) {
    response.writeHead(found.status, found.refusal).end();
    return;
  }
  const at = { host: found.address, port, path: `${target.pathname}${target.search}` };
  const sent = { method: incoming.method ?? "GET", headers: { ...headers, host: target.host } };
  const outgoing = request({ ...at, ...sent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("socket", track);
  outgoing.on("error", (error) => {
    options.log.debug("a registry could not be reached", { target: target.host, error });
    if (response.headersSent) response.destroy();
    else response.writeHead(502, oneLine(error)).end();
  });
  incoming.pipe(outgoing);
}

async function tunnel(
  target: string,
  client: Duplex,
  first: Buffer,
  options: PullProxyOptions,
  track: Track,
): Promise<void> {
  const url = URL.parse(`tcp://${target}`);
  const port = Number(url?.port || 443);
  const found = await addressOf(url?.hostname ?? "", port, "https", options);
  if ("refusal" in found) {
    client.end(`HTTP/1.1 ${found.status} ${found.refusal}\r\n\r\n`);
    return;
  }
  const registry = track(connect({ host: found.address, port }));
  registry.once("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    registry.write(first);
    client.pipe(registry).pipe(client);
  });
  registry.once("error", (error) => client.end(`HTTP/1.1 502 ${oneLine(error)}\r\n\r\n`));
  client.once("close", () => registry.destroy());
  registry.once("close", () => client.destroy());
}

/** Never throws: a name that is not found is an answer too. */
async function addressOf(hostname: string, port: number, scheme: "http" | "https", options: PullProxyOptions) {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "") return { status: 400, refusal: "no address" };
  try {
    const found = await registryAddress(host, port, scheme, options);
    if ("address" in found) return found;
    options.log.warn("an image pull was refused", { host, port, why: found.refusal });
    return { status: 403, refusal: found.refusal };
  } catch (error) {
    return { status: 502, refusal: oneLine(error as Error) };
  }
}

function refuse({ headers }: IncomingMessage, { secret, allowed }: PullProxyOptions) {
  if (!isSame(headers["proxy-authorization"] ?? "", `Basic ${btoa(`${USER}:${secret}`)}`)) {
    return { status: 407, reason: "this proxy is for image pulls only" };
  }
  return allowed ? undefined : { status: 403, reason: PULLS_ARE_OFF };
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function oneLine(error: Error): string {
  return error.message.replace(/[^\x20-\x7e]+/g, " ");
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}
