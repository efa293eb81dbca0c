import type { IncomingMessage } from "node:http";
import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { logMessages } from "./log-messages.ts";
import { acceptWebSocket } from "./upgrade.ts";

const request = {
  method: "GET",
  headers: {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
  },
} as unknown as IncomingMessage;

describe("a log over a WebSocket", () => {
  it.each([
    ["a frame that is not masked", [0x82, 1, 1]],
    ["a continuation of nothing", [0x80, 0x80, 0, 0, 0, 0]],
    ["an opcode that does not exist", [0x8b, 0x80, 0, 0, 0, 0]],
  ])("ends with %s, and nothing else does", async (_, bytes) => {
    const [client, server] = duplexPair();
    client.on("error", () => {}).resume();
    const accepted = await acceptWebSocket({ request, socket: server, head: Buffer.alloc(0), isAccepted: false }, "");
    const waiting = Promise.withResolvers<Buffer>();
    const ended = logMessages(
      accepted,
      (async function* () {
        yield await waiting.promise;
      })(),
    );
    // While the log waits for its next line.
    client.write(Buffer.from(bytes));
    client.end();
    await accepted.closed;
    waiting.resolve(Buffer.from("line"));
    await expect(ended).resolves.toBeUndefined();
  });
});
