/**
 * Mutated frames: afterwards the connection answers a PING, or it has sent GOAWAY and is closed; and nothing of it is
 * left.
 */
import { describe, expect, it } from "vitest";
import { type Random, seededRandom, settled } from "#base";
import { FLAG, FRAME, PREFACE, SETTING } from "./codes.ts";
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
  rstStream,
  settings,
  windowUpdate,
} from "./testing/frames.ts";
import { counting, TestClient } from "./testing/test-client.ts";

const block = fieldBlock(GET);

/** Valid frames of all types. */
const valid: readonly Buffer[] = [
  settings([SETTING.initialWindowSize, 1_000], [SETTING.headerTableSize, 100]),
  get(1),
  post(3, ["content-length", "5"]),
  data(3, "abc"),
  lastData(3, "de"),
  frame(FRAME.headers, FLAG.endStream, 5, block.subarray(0, 7)),
  continuation(5, block.subarray(7, 20), 0),
  continuation(5, block.subarray(20)),
  post(7),
  data(7, padded("padded", 20), FLAG.padded),
  windowUpdate(7, 100),
  headers(7, [["trailer", "t"]], FLAG.endHeaders | FLAG.endStream),
  post(9),
  rstStream(9),
  frame(FRAME.priority, 0, 11, Buffer.from([0, 0, 0, 0, 9])),
  windowUpdate(0, 1_000),
  ping(),
  post(11),
  lastData(11, Buffer.alloc(3_000)),
];

const mutations: Readonly<Record<string, (frames: Buffer[], random: Random) => Buffer>> = {
  "a byte": (frames, random) => {
    const all = Buffer.concat(frames);
    all[random.integer(all.length)] = random.integer(256);
    return all;
  },
  "some bytes in heads": (frames, random) => {
    for (let i = random.integer(3); i >= 0; i--)
      random.pick(frames)[random.integer(9)] = random.integer(random.pick([2, 16, 256]));
    return Buffer.concat(frames);
  },
  "frames in another order": (frames, random) => {
    for (let i = random.integer(6); i >= 0; i--) {
      const [moved] = frames.splice(random.integer(frames.length), 1);
      if (moved !== undefined) frames.splice(random.integer(frames.length + 1), 0, moved);
    }
    return Buffer.concat(frames);
  },
  "frames twice": (frames, random) => {
    for (let i = random.integer(4); i >= 0; i--) frames.splice(random.integer(frames.length), 0, random.pick(frames));
    return Buffer.concat(frames);
  },
  "a piece left out": (frames, random) => {
    const all = Buffer.concat(frames);
    const at = random.integer(all.length);
    return Buffer.concat([all.subarray(0, at), all.subarray(at + random.integer(40))]);
  },
  "other flags": (frames, random) => {
    for (const each of frames) if (random.next() < 0.1) each[4] = random.integer(64);
    return Buffer.concat(frames);
  },
};

async function outcome(bytes: Buffer, random: Random): Promise<string> {
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
  // Ends a frame that has been cut off, or is the payload of one that claims to be longer.
  await client.send(ping("are you "));
  const said = client.sent;
  const fine = said.includes("ping ack are you ");
  const left = said.findIndex((line) => line.startsWith("goaway"));
  if (left !== -1) {
    expect(left).toBe(said.length - 1);
    expect(said[left]).not.toContain("internalError");
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  } else expect(client.socket.destroyed).toBe(false);
  await client.cut();
  await settled();
  expect([client.connection.streams, closed, client.clock.pending]).toEqual([0, client.streams.length, 0]);
  return left !== -1 ? "gone" : fine ? "fine" : "waits";
}

describe("bytes that are nearly right", () => {
  it("are fine as they are", async () => {
    expect(await outcome(Buffer.concat(valid), seededRandom(1))).toBe("fine");
  });

  it.each(Object.entries(mutations))("with %s", async (name, mutate) => {
    const random = seededRandom(name.length);
    const outcomes = new Set<string>();
    for (let i = 0; i < 150; i++) {
      const frames = valid.map((each) => Buffer.from(each));
      outcomes.add(await outcome(mutate(frames, random), random));
    }
    expect(outcomes).toContain("gone");
  });

  it("and bytes that are not right at all", async () => {
    const random = seededRandom(7);
    for (let i = 0; i < 100; i++) await outcome(Buffer.from(random.bytes(random.integer(3_000))), random);
    for (let i = 0; i < 100; i++) {
      const client = new TestClient();
      await client.send(PREFACE, Buffer.from(random.bytes(200)));
      await client.clock.advance(31_000);
      expect(client.socket.destroyed).toBe(true);
    }
  });
});
