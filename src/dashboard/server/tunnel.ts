/** `exec` and `attach`: forwards a WebSocket of the page to the API server, as the user. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { joined } from "#base";
import type { ApiServer } from "./upstream.ts";

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
  call.once("error", () => refuseUpgrade(socket, 503, "Service Unavailable"));
  call.once("response", (answer) => {
    answer.resume();
    refuseUpgrade(socket, answer.statusCode ?? 502, answer.statusMessage ?? "Refused");
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

export function refuseUpgrade(socket: Duplex, code: number, words: string): void {
  // The other side may be closed already.
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${code} ${words}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
