/**
 * `exec` and `attach`: forwards a WebSocket of the page to the API server, as the user.
 *
 * 1. A refusal reaches the page in the server's words: browsers hide the response to a handshake that fails, so the
 *    handshake succeeds, and the error channel carries the refusal.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { joined } from "#base";
import { type ApiServer, textOf } from "./upstream.ts";

const PASSED = [
  "connection",
  "upgrade",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "sec-websocket-extensions",
];

export function tunnelled(api: ApiServer, path: string, message: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (!/^\/api\/v1\/namespaces\/[^/?]+\/pods\/[^/?]+\/(exec|attach)\?/.test(path)) {
    refuseUpgrade(socket, 404, "Not Found");
    return;
  }
  const call = api.request(path, message.headers, PASSED, { method: "GET" });
  const refuse = (words: string) => endWith(words, message, socket, head);
  call.once("error", (error) => {
    if (!socket.destroyed) refuse(`The API server does not respond: ${error.message}`);
  });
  call.once("response", (answer) => {
    textOf(answer, MAX_WORDS).then(
      (text) => refuse(text === "" ? `The API server answers ${answer.statusCode} ${answer.statusMessage}.` : text),
      (error: Error) => refuse(error.message),
    );
  });
  call.once("upgrade", (answer, far, farHead) => {
    const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
    for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
      lines.push(`${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}`);
    }
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    if (farHead.length > 0) socket.write(farHead);
    if (head.length > 0) far.write(head);
    void joined(socket, far);
  });
  socket.once("close", () => call.destroy());
  call.end();
}

/** Of the channel protocols: a Status, or plain words. */
const ERROR_CHANNEL = 3;
/** More than any Status needs. */
const MAX_WORDS = 16 * 1024;

function endWith(words: string, message: IncomingMessage, socket: Duplex, head: Buffer): void {
  new WebSocketServer({ noServer: true }).handleUpgrade(message, socket, head, (page) => {
    page.on("error", () => page.terminate());
    page.send(Buffer.concat([Buffer.from([ERROR_CHANNEL]), Buffer.from(words)]));
    page.close(1000);
  });
}

export function refuseUpgrade(socket: Duplex, code: number, words: string): void {
  // The other side may be closed already.
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${code} ${words}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
