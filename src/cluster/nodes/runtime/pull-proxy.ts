/**
 * An HTTP proxy on this machine for image pulls: the only way out of a node's network, closed unless --pull-images is
 * given.
 *
 *     containerd ──► proxy (secret) ──► registry
 *                        └─ pulls are off ──► 403 with a reason, which the Pod's event shows
 *
 * 1. Clients need the secret: containerd has it, Pods do not.
 * 2. Closing it closes all its connections.
 */
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "#base";

/** Nothing else listens on the machine's address in the nodes' network. */
export const PROXY_PORT = 3128;
const USER = "k8ts";
/** Sent in the status line: containerd reports it as the reason. */
const PULLS_ARE_OFF = "image pulls are disabled (use k8ts image import, or allow pulls with k8ts up --pull-images)";

export interface PullProxyOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly secret: string;
  readonly allowed: boolean;
  readonly log: Logger;
}

export interface PullProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** The environment of containerd. The cluster's own addresses are reached directly. */
export function proxyEnv(host: string, port: number, secret: string): Record<string, string> {
  const url = `http://${USER}:${secret}@${host}:${port}`;
  const direct = ["localhost", "127.0.0.0/8", `${host}/24`, "10.96.0.0/12", "10.244.0.0/16"].join(",");
  return { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: direct };
}

export async function openPullProxy(options: PullProxyOptions): Promise<PullProxy> {
  const { host, port, log } = options;
  const open = new Set<Duplex>();
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream);
    return stream.once("close", () => open.delete(stream));
  };
  const server = createServer((incoming, response) => {
    const refusal = refuse(incoming, options);
    const target = URL.parse(incoming.url ?? "");
    if (refusal !== undefined || target?.protocol !== "http:") {
      response.writeHead(refusal?.status ?? 400, refusal?.reason ?? "no address").end();
      return;
    }
    const { "proxy-authorization": _secret, "proxy-connection": _hop, ...headers } = incoming.headers;
    const outgoing = request(target, { method: incoming.method ?? "GET", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("socket", track);
    outgoing.on("error", (error) => {
      log.debug("a registry could not be reached", { target: target.host, error });
      if (response.headersSent) response.destroy();
      else response.writeHead(502, oneLine(error)).end();
    });
    incoming.pipe(outgoing);
  });
  server.on("connection", track);
  server.on("connect", (incoming: IncomingMessage, client: Duplex, first: Buffer) => {
    client.on("error", () => client.destroy());
    const refusal = refuse(incoming, options);
    if (refusal !== undefined) client.end(`HTTP/1.1 ${refusal.status} ${refusal.reason}\r\n\r\n`);
    else tunnel(incoming.url ?? "", client, first, track);
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

function tunnel(target: string, client: Duplex, first: Buffer, track: (socket: Socket) => Socket): void {
  const { hostname, port } = new URL(`tcp://${target}`);
  const registry = track(connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 443) }));
  registry.once("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    registry.write(first);
    client.pipe(registry).pipe(client);
  });
  registry.once("error", (error) => client.end(`HTTP/1.1 502 ${oneLine(error)}\r\n\r\n`));
  client.once("close", () => registry.destroy());
  registry.once("close", () => client.destroy());
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
