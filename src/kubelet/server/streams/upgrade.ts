/** A request for a protocol upgrade: its offer, accepting and declining it. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type Answer, Refusal } from "../exchange.ts";

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes after the request, which belong to the new protocol. */
  readonly head: Buffer;
  /** Accepted: no HTTP response is possible any more. */
  isAccepted: boolean;
}

export interface AcceptedSocket {
  readonly socket: WebSocket;
  /** The negotiated subprotocol; undefined if the client offered none. */
  readonly protocol: string | undefined;
  /** Resolves when it is closed, also by an error, such as a frame that is not valid. */
  readonly closed: Promise<void>;
}

export function isWebSocket({ request }: Upgrade): boolean {
  return request.headers.upgrade?.toLowerCase() === "websocket";
}

/** The first of the client's subprotocols that is supported; undefined if it offers none. */
export function chosenProtocol({ request }: Upgrade, served: readonly string[]): string | undefined {
  const named = (request.headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  const chosen = named.find((each) => served.includes(each));
  if (named.length > 0 && chosen === undefined) {
    const [theirs, ours] = [named.join(" "), served.join(" ")];
    throw new Refusal(
      403,
      `unable to upgrade: unable to negotiate protocol: client supports [${theirs}], server accepts [${ours}]`,
    );
  }
  return chosen;
}

export function acceptWebSocket(upgrade: Upgrade, protocol: string | undefined): Promise<AcceptedSocket> {
  const { request, socket, head } = upgrade;
  upgrade.isAccepted = true;
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  // Set here, because the library rejects names with a slash.
  delete request.headers["sec-websocket-protocol"];
  if (protocol !== undefined) server.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(new Error("the caller left before its WebSocket was open")));
    server.handleUpgrade(request, socket, head, (accepted) => {
      // An error is followed by `close`.
      accepted.on("error", () => {});
      const closed = new Promise<void>((end) => accepted.once("close", () => end()));
      resolve({ socket: accepted, protocol, closed });
    });
  });
}

/** Switches protocols with the runtime's response headers. */
export function acceptRaw(upgrade: Upgrade, headers: Readonly<Record<string, string | undefined>>): void {
  const { socket, head } = upgrade;
  upgrade.isAccepted = true;
  socket.write(headOf(101, headers));
  if (head.length > 0) socket.unshift(head);
}

export function decline({ socket }: Upgrade, { status, headers = {}, body }: Answer): void {
  const bytes = Buffer.from(typeof body === "string" || Buffer.isBuffer(body) ? body : "");
  const framing = { "content-length": String(bytes.length), connection: "close" };
  socket.end(Buffer.concat([Buffer.from(headOf(status, { ...headers, ...framing })), bytes]));
}

function headOf(status: number, headers: Readonly<Record<string, string | undefined>>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines, "", ""].join("\r\n");
}
