/**
 * Upgraded connections, such as WebSockets: once the endpoint agrees, bytes are forwarded in both directions unread.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, request as send } from "node:http";
import { request as sendSecurely } from "node:https";
import type { Duplex } from "node:stream";
import type { Endpoint } from "../proxy/endpoints.ts";
import { tlsOptions } from "./backend-tls.ts";
import { type ExchangeOptions, REFUSALS, type Refusal, type Routed, routed } from "./exchange.ts";
import { changeHeaders, type Origin, requestHeaders } from "./headers.ts";

const ALIVE_MS = 60_000;

interface Upgrade extends ExchangeOptions {
  readonly connectMs: number;
}

export async function upgrade(
  options: Upgrade,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  origin: Origin,
): Promise<void> {
  const { clock, metrics, backends } = options;
  const start = clock.monotonic();
  client.on("error", () => client.destroy());
  const found = routed(options, request, origin);
  let status: number = REFUSALS.unavailable.status;
  client.once("close", () => metrics.answered(found.route?.owner, status, clock.monotonic() - start, true));
  if ("status" in found) {
    status = found.status;
    return refuseUpgrade(client, found);
  }
  const { host, requestHeaders: changed } = found.route.changes ?? {};
  const own = requestHeaders(request.headers, origin, options.trustsForwarded);
  if (host !== undefined) own.host = host;
  changeHeaders(own, changed);
  const headers = { ...own, connection: "Upgrade", upgrade: request.headers.upgrade ?? "" };
  for (const endpoint of found.endpoints) {
    const outcome = await agree(options, request, found, headers, endpoint, client, head);
    if (typeof outcome === "number") {
      status = outcome;
      return;
    }
    if (client.destroyed) return;
    if (outcome === "failed") break;
    backends.avoid(endpoint);
    metrics.retried();
  }
  refuseUpgrade(client, REFUSALS.unavailable);
}

/** Resolves with the status of the endpoint's response. */
function agree(
  { clock, connectMs }: Upgrade,
  { method = "GET" }: IncomingMessage,
  { path, tls }: Routed,
  headers: OutgoingHttpHeaders,
  { address: host, port }: Endpoint,
  client: Duplex,
  head: Buffer,
): Promise<number | "unreached" | "failed"> {
  const asked = { host, port, method, path, headers, agent: false as const, setDefaultHeaders: false };
  const sent = tls === undefined ? send(asked) : sendSecurely({ ...asked, ...tlsOptions(tls) });
  const leave = () => sent.destroy();
  client.once("close", leave);
  return new Promise((resolve) => {
    let isConnected = false;
    const timer = clock.timer(connectMs, () => sent.destroy(new Error("no connection in time")));
    sent.once("socket", (socket) =>
      socket.once(tls === undefined ? "connect" : "secureConnect", () => {
        isConnected = true;
        timer.cancel();
      }),
    );
    sent.once("upgrade", (answer, endpoint, first) => {
      client.write(headOf(answer));
      if (first.length > 0) client.write(first);
      if (head.length > 0) endpoint.write(head);
      for (const socket of [client, endpoint]) keepAlive(socket);
      endpoint.on("error", () => endpoint.destroy());
      endpoint.once("close", () => client.destroy());
      client.once("close", () => endpoint.destroy());
      client.off("close", leave);
      endpoint.pipe(client).pipe(endpoint);
      resolve(answer.statusCode ?? 101);
    });
    // The endpoint refuses: its response is passed on, then the connection ends.
    sent.once("response", (answer) => {
      client.write(headOf(answer, "close"));
      answer.once("error", () => client.destroy());
      answer.pipe(client);
      resolve(answer.statusCode ?? 502);
    });
    sent.on("error", () => {
      timer.cancel();
      resolve(isConnected ? "failed" : "unreached");
    });
    sent.end();
  });
}

export function refuseUpgrade(client: Duplex, { status, text, location }: Refusal): void {
  if (!client.writable) return;
  const elsewhere = location === undefined ? "" : `location: ${location}\r\n`;
  client.end(
    `HTTP/1.1 ${status} ${text.slice(4)}\r\ncontent-type: text/plain\r\n${elsewhere}connection: close\r\n\r\n${text}\n`,
  );
}

/** The response head as received. With `connection`, the body is framed by the end of the connection. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, connection?: string): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    if (connection !== undefined && (name === "connection" || name === "keep-alive" || name === "transfer-encoding"))
      continue;
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  if (connection !== undefined) lines.push(`connection: ${connection}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Detects peers that vanish without closing. */
function keepAlive(socket: Duplex): void {
  if (!("setKeepAlive" in socket) || typeof socket.setKeepAlive !== "function") return;
  socket.setKeepAlive(true, ALIVE_MS);
  if ("setNoDelay" in socket && typeof socket.setNoDelay === "function") socket.setNoDelay(true);
}
