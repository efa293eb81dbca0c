/**
 * Node's own implementation as the judge, over a pair of streams: its blocks for us to read, and ours for it to read.
 */

import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type Settings } from "node:http2";
import { type Duplex, duplexPair } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { HeaderDecoder, HeaderEncoder } from "./index.ts";

const prefaceBytes = 24;
const frameHeaderBytes = 9;
const type = { headers: 1, settings: 4 };
const flag = { ack: 1, endStream: 1, endHeaders: 4, priority: 0x20 };

const frame = (kind: number, flags: number, stream: number, payload: Buffer) => {
  const header = Buffer.alloc(frameHeaderBytes);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = kind;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
};

interface Ears {
  readonly settings?: (payload: Buffer) => void;
  readonly block: (stream: number, block: Buffer) => void;
}

/** A server that knows just enough of frames to hear blocks. */
function listen(socket: Duplex, ears: Ears): void {
  let pending = Buffer.alloc(0);
  let skip = prefaceBytes;
  socket.write(frame(type.settings, 0, 0, Buffer.alloc(0)));
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    if (pending.length < skip) return;
    pending = pending.subarray(skip);
    skip = 0;
    while (pending.length >= frameHeaderBytes) {
      const length = pending.readUIntBE(0, 3);
      if (pending.length < frameHeaderBytes + length) return;
      const [kind, flags, stream] = [pending[3], pending[4] ?? 0, pending.readUInt32BE(5)];
      const payload = pending.subarray(frameHeaderBytes, frameHeaderBytes + length);
      pending = pending.subarray(frameHeaderBytes + length);
      if (kind === type.settings && (flags & flag.ack) === 0) {
        ears.settings?.(payload);
        socket.write(frame(type.settings, flag.ack, 0, Buffer.alloc(0)));
      }
      if (kind === type.headers) ears.block(stream, payload.subarray((flags & flag.priority) === 0 ? 0 : 5));
    }
  });
}

let session: ClientHttp2Session | undefined;
afterEach(async () => {
  if (session === undefined) return;
  const closed = once(session, "close");
  session.destroy();
  await closed;
  session = undefined;
});

function client(ears: (socket: Duplex) => Ears, settings: Settings = {}): ClientHttp2Session {
  const [ours, theirs] = duplexPair();
  listen(ours, ears(ours));
  session = connect("http://peer", { createConnection: () => theirs, settings });
  return session;
}

describe("Node's HTTP/2", () => {
  it("writes blocks that we read: every byte, with and without Huffman coding", async () => {
    const decoder = new HeaderDecoder();
    const heard = Promise.withResolvers<void>();
    const blocks: { bytes: number; fields: readonly string[] | undefined }[] = [];
    const bytes = Array.from({ length: 255 }, (_, i) => i + 1);
    const groups = [0, 1, 2, 3].map((i) => bytes.slice(i * 64, (i + 1) * 64));
    // Many common letters make it worth while to write even a rare byte in Huffman code; a rare byte alone is written
    // as it is.
    const values = (byte: number) => [
      `${"a".repeat(30)}${String.fromCharCode(byte)}a`,
      `a${String.fromCharCode(byte)}a`,
    ];
    const peer = client(() => ({
      block: (_, block) => {
        blocks.push({ bytes: block.length, fields: decoder.decode(block) });
        if (blocks.length === groups.length * 2) heard.resolve();
      },
    }));
    const sent = [0, 1].flatMap((kind) =>
      groups.map((group) => Object.fromEntries(group.map((byte) => [`x-${byte}`, values(byte)[kind] ?? ""]))),
    );
    for (const headers of sent) peer.request(headers).on("error", () => undefined);
    await heard.promise;
    for (const [i, headers] of sent.entries()) {
      const fields = [":method", "GET", ":authority", "peer:80", ":scheme", "http", ":path", "/"];
      expect(blocks[i]?.fields).toEqual([...fields, ...Object.entries(headers).flat()]);
    }
    const plainBytes = groups.map((group) => group.length * 32);
    expect(blocks.slice(0, 3).every(({ bytes }, i) => bytes < (plainBytes[i] ?? 0))).toBe(true);
  });

  const settings: readonly Settings[] = [
    {},
    { headerTableSize: 0 },
    { headerTableSize: 256 },
    { headerTableSize: 65_536 },
  ];
  it.each(settings)("reads the blocks that we write (%o)", async (settings) => {
    const random = seededRandom(3);
    const encoder = new HeaderEncoder();
    const answers = Array.from({ length: 60 }, (_, i) => ({
      status: random.pick([200, 201, 404, 409]),
      headers: {
        "audit-id": random.string(36),
        "cache-control": "no-cache, private",
        "content-length": i,
        "content-type": random.pick(["application/json", "application/vnd.kubernetes.protobuf"]),
        [`x-${random.integer(5)}`]: random.string(1 + random.integer(300)),
        warning: [`299 - "${random.string(5)}"`, `299 - "${random.string(5)}"`],
      },
    }));
    const peer = client(
      (socket) => ({
        settings: (payload) => {
          for (let at = 0; at < payload.length; at += 6)
            if (payload.readUInt16BE(at) === 1) encoder.allow(payload.readUInt32BE(at + 2));
        },
        block: (stream) => {
          const answer = answers[(stream - 1) / 2];
          if (answer === undefined) return;
          const block = encoder.encode(answer.status, answer.headers);
          socket.write(frame(type.headers, flag.endHeaders | flag.endStream, stream, block));
        },
      }),
      settings,
    );
    const response = async (stream: ClientHttp2Stream) => {
      const [, , raw] = (await once(stream, "response")) as [unknown, unknown, string[]];
      stream.resume();
      return raw;
    };
    const raws = await Promise.all(answers.map(() => response(peer.request({ ":method": "HEAD" }))));
    for (const [i, { status, headers }] of answers.entries()) {
      const fields = Object.entries(headers).flatMap(([name, value]) =>
        [value].flat().flatMap((each) => [name, String(each)]),
      );
      expect(raws[i]).toEqual([":status", String(status), ...fields]);
    }
  });
});
