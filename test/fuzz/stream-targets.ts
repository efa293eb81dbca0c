/** exec, attach and port-forward: frames of SPDY, and WebSockets whose client and runtime both send anything. */
import type { IncomingMessage } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { settled } from "#base";
import { portChannels } from "../../src/kubelet/server/streams/port-channels.ts";
import { remoteCommand } from "../../src/kubelet/server/streams/remote-command.ts";
import {
  controlFrame,
  dataFrames,
  FIN,
  FrameReader,
  PING,
  SYN_REPLY,
  uint32,
} from "../../src/kubelet/server/streams/spdy-frames.ts";
import { acceptWebSocket } from "../../src/kubelet/server/streams/upgrade.ts";
import {
  CHANNEL_PROTOCOLS,
  decodeMessage,
  encodeMessage,
} from "../../src/kubelet/server/streams/web-socket-channels.ts";
import { ensure, hex, type Targets, withEvents } from "./target.ts";

/** A frame of a client: final, masked with zeros. */
const message = (opcode: number, payload: Buffer | string) => {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
};
const [TEXT, BINARY, CLOSE, PING_MESSAGE] = [1, 2, 8, 9];
const fromClient = Buffer.concat([
  message(BINARY, "\0stdin"),
  message(TEXT, "0c3RkaW4="),
  message(PING_MESSAGE, "here"),
  message(BINARY, Buffer.from([255, 0])),
]);
const answer = (streamId: number, text: string, flags = 0) =>
  Buffer.concat(dataFrames({ streamId, flags, payload: Buffer.from(text) }));
const fromRuntime = Buffer.concat([
  controlFrame({ type: SYN_REPLY, flags: 0, payload: uint32(1) }),
  answer(5, "out"),
  controlFrame({ type: PING, flags: 0, payload: uint32(2) }),
  answer(1, '{"status":"Failure","message":"m"}', FIN),
  answer(5, "", FIN),
]);

/** Its first byte chooses what is served and the protocol, two give the length of what the client sends. */
const session = (choice: number, client: Buffer, runtime: Buffer) => {
  const head = Buffer.from([choice, 0, 0]);
  head.writeUInt16BE(client.length, 1);
  return Buffer.concat([head, client, runtime]);
};
const LEAVE = Buffer.concat([fromClient, message(CLOSE, Buffer.from([3, 232]))]);

export const streamTargets: Targets = {
  "spdy frames": {
    seeds: [
      ...hex(
        "8003000200000006000000010000000000010100000361626380030006000000040000000280030007000000080000000000000000",
      ),
      fromRuntime,
    ],
    errors: [],
    read: (bytes) => {
      const [whole, pieces] = [new FrameReader(), new FrameReader()];
      const frames = [...whole.read(bytes)];
      const again = Array.from(bytes, (_, i) => [...pieces.read(bytes.subarray(i, i + 1))]).flat();
      ensure(JSON.stringify(frames) === JSON.stringify(again), "frames depend on how bytes arrive");
      return frames.length > 0;
    },
  },
  "channel messages": {
    seeds: [Buffer.from("\0\0stdin"), Buffer.from([0, 255, 1]), Buffer.from("\x020aGk="), Buffer.from("\x01\x01out")],
    errors: [],
    read: ([which = 0, ...rest]) => {
      const protocol = CHANNEL_PROTOCOLS[which % CHANNEL_PROTOCOLS.length];
      const decoded = protocol && decodeMessage(protocol, Buffer.from(rest));
      if (protocol === undefined || decoded?.bytes === undefined) return decoded;
      const again = decodeMessage(protocol, Buffer.from(encodeMessage(protocol, decoded.channel, decoded.bytes)));
      const isDigit = decoded.channel >= 0 && decoded.channel <= 9;
      if (!protocol.isBase64 || isDigit) ensure(again?.bytes?.equals(decoded.bytes) === true, "a message that differs");
      return true;
    },
  },
  "stream sessions": {
    seeds: [0, 1, 2, 3, 4, 5, 8, 11].map((choice) => session(choice, choice % 2 ? fromClient : LEAVE, fromRuntime)),
    errors: [],
    read: (bytes) => withEvents(() => serve(bytes)),
    inputs: 400,
  },
};

/** Both sides send, then both leave: the session ends. */
async function serve(bytes: Buffer): Promise<boolean> {
  if (bytes.length < 3) return false;
  const [choice = 0] = bytes;
  const split = 3 + bytes.readUInt16BE(1);
  const [client, server] = duplexPair();
  const [runtime, connection] = duplexPair();
  for (const side of [client, runtime]) side.on("error", () => {}).resume();
  const { name } = CHANNEL_PROTOCOLS[choice % CHANNEL_PROTOCOLS.length] ?? { name: "" };
  const accepted = await acceptWebSocket({ request, socket: server, head: Buffer.alloc(0), isAccepted: false }, name);
  const wanted = { stdin: true, stdout: true, stderr: false, tty: choice % 2 === 0 };
  const ended = choice < 6 ? remoteCommand(accepted, connection, wanted) : portChannels(accepted, connection, [80, 81]);
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  await send(client, bytes.subarray(3, split));
  await send(runtime, bytes.subarray(split));
  const hasOutcome = isOver;
  client.destroy();
  runtime.destroy();
  server.destroy();
  connection.destroy();
  await settled();
  ensure(isOver, "the session does not end");
  await over;
  return hasOutcome || accepted.socket.readyState === accepted.socket.CLOSED;
}

async function send(side: Duplex, bytes: Buffer): Promise<void> {
  if (!side.destroyed && !side.writableEnded) side.write(bytes);
  await settled();
}

const request = {
  method: "GET",
  headers: {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
  },
} as unknown as IncomingMessage;
