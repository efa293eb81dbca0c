/**
 * Answers requests of HTTP/1.1 whose head cannot be read: too large, malformed, or too slow.
 *
 * 1. The client gets the answer also while it still sends: the connection is ended, not reset, and what arrives
 *    meanwhile is dropped, for as long as Go's servers linger.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "#base";

/** A connection that is closed with unread bytes is reset, and a reset may overtake the answer. */
const LINGER_MS = 500;

const STATUS_OF = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

export function refuseHead(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF.get(error.code ?? "") ?? 400;
  const text = `${status} ${STATUS_CODES[status]}`;
  socket.removeAllListeners("data");
  socket.on("data", () => {});
  socket.end(`HTTP/1.1 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`);
  const linger = clock.timer(LINGER_MS, () => socket.destroy());
  socket.once("close", () => linger.cancel());
}
