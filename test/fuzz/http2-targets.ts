/** HTTP/2: the division into frames, HPACK, and whole connections on a pair of streams in memory. */
import { seededRandom, settled } from "#base";
import { ConnectionError, FLAG, FRAME, PREFACE, SETTING } from "../../src/apiserver/http2/codes.ts";
import { FrameReader } from "../../src/apiserver/http2/frame-reader.ts";
import { HeaderDecoder, HeaderEncoder, HpackError } from "../../src/apiserver/http2/hpack/index.ts";
import {
  continuation,
  data,
  fieldBlock,
  frame,
  GET,
  get,
  headers,
  lastData,
  padded,
  ping,
  post,
  priority,
  rstStream,
  settings,
  windowUpdate,
} from "../../src/apiserver/http2/testing/frames.ts";
import { counting, TestClient } from "../../src/apiserver/http2/testing/test-client.ts";
import { ensure, hex, type Targets, withEvents } from "./target.ts";

const block = fieldBlock(GET);

/** Sequences of frames that a client may send after SETTINGS. */
export const http2Sequences: readonly Buffer[] = [
  Buffer.concat([
    settings([SETTING.initialWindowSize, 1_000], [SETTING.headerTableSize, 100]),
    get(1),
    post(3, ["content-length", "5"]),
    data(3, "abc"),
    lastData(3, "de"),
    ping(),
  ]),
  Buffer.concat([
    frame(FRAME.headers, FLAG.endStream, 5, block.subarray(0, 7)),
    continuation(5, block.subarray(7, 20), 0),
    continuation(5, "", 0),
    continuation(5, block.subarray(20)),
    post(7),
    data(7, padded("padded", 20), FLAG.padded),
    headers(7, [["trailer", "t"]], FLAG.endHeaders | FLAG.endStream),
  ]),
  Buffer.concat([
    settings([SETTING.initialWindowSize, 0]),
    get(1),
    windowUpdate(1, 1),
    settings([SETTING.initialWindowSize, 2 ** 30]),
    windowUpdate(0, 1_000),
    settings([SETTING.initialWindowSize, 5]),
    get(3),
    windowUpdate(3, 2 ** 20),
    priority(5, 3),
  ]),
  Buffer.concat([post(1), rstStream(1), post(3), rstStream(3), get(5), rstStream(5), priority(9), get(9)]),
];

/** A length of one byte before each block. */
const blocks = (...all: readonly Buffer[]) => Buffer.concat(all.flatMap((each) => [Buffer.from([each.length]), each]));

export const http2Targets: Targets = {
  "http2 frames": {
    seeds: http2Sequences.map((sequence) => Buffer.concat([PREFACE, settings(), sequence])),
    errors: [],
    read: (bytes) => {
      const whole = framesIn([bytes]);
      const pieces = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, i) => bytes.subarray(3 * i, 3 * i + 3));
      ensure(whole.lines.join() === framesIn(pieces).lines.join(), "frames depend on how bytes arrive");
      return !whole.failed;
    },
  },
  hpack: {
    // With and without Huffman coding (RFC 7541, C.3 and C.4), size updates, and plain literals.
    seeds: [
      blocks(
        ...hex(
          "828684410f7777772e6578616d706c652e636f6d",
          "828684be58086e6f2d6361636865",
          "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
        ),
      ),
      blocks(
        ...hex(
          "828684418cf1e3c2e5f23a6ba0ab90f4ff",
          "828684be5886a8eb10649cbf",
          "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
        ),
      ),
      blocks(...hex("203fe11f828684"), block),
    ],
    errors: [HpackError],
    read: hpackRoundTrip,
  },
  "http2 connection": {
    seeds: http2Sequences,
    errors: [],
    read: (bytes) => withEvents(() => connection(bytes)),
    inputs: 600,
  },
};

function framesIn(chunks: readonly Buffer[]): { readonly lines: readonly string[]; readonly failed: boolean } {
  const lines: string[] = [];
  const reader = new FrameReader((type, flags, id, bytes, start, end) =>
    lines.push(`${type} ${flags} ${id} ${bytes.toString("latin1", start, end)}`),
  );
  try {
    for (const chunk of chunks) reader.read(chunk);
    return { lines, failed: false };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { lines: [...lines, `error ${error.code}`], failed: true };
  }
}

/** What a peer reads from our own blocks is what was decoded. */
function hpackRoundTrip(bytes: Buffer): boolean {
  const [decoder, encoder, peer] = [new HeaderDecoder(), new HeaderEncoder(), new HeaderDecoder()];
  for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
    const list = decoder.decode(bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0))) ?? [];
    const fields: Record<string, string[]> = Object.create(null);
    for (let i = 0; i < list.length; i += 2) {
      const values = fields[list[i] ?? ""] ?? [];
      values.push(list[i + 1] ?? "");
      fields[list[i] ?? ""] = values;
    }
    const [, , ...again] = peer.decode(encoder.encode(200, fields)) ?? [];
    const sent = Object.entries(fields).flatMap(([name, values]) => values.flatMap((value) => [name, value]));
    ensure(JSON.stringify(again) === JSON.stringify(sent), "fields differ after they were encoded");
  }
  return true;
}

/** Afterwards it answers PING, waits for the rest of a frame, or has sent GOAWAY and is closed; nothing is left of it. */
async function connection(bytes: Buffer): Promise<boolean> {
  const random = seededRandom(bytes.length);
  let closed = 0;
  const client = await TestClient.greeted({
    onStream: (stream) => {
      stream.once("close", () => closed++);
      counting(stream);
    },
  });
  for (let at = 0; at < bytes.length; ) {
    const to = at + 1 + random.integer(random.pick([10, 100, 10_000]));
    await client.send(bytes.subarray(at, to));
    at = to;
  }
  await client.send(ping("are you "));
  const { sent } = client;
  const left = sent.findIndex((line) => line.startsWith("goaway"));
  if (left === -1) ensure(!client.socket.destroyed, "closed without GOAWAY");
  else {
    ensure(left === sent.length - 1, `sends after GOAWAY: ${sent.slice(left)}`);
    ensure(!sent[left]?.includes("internalError"), "an internal error");
    ensure(client.socket.destroyed && client.clock.pending === 0, "is not closed after GOAWAY");
  }
  await client.cut();
  await settled();
  const { streams } = client.connection;
  ensure(streams === 0 && closed === client.streams.length, `${streams} streams stay, ${closed} have ended`);
  ensure(client.clock.pending === 0, "timers stay");
  return left === -1;
}
