/** Node's own client as the other side: many requests at a time, of any size, some of them taken back. */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { nextTurn, type Random, realClock, seededRandom, silentLogger } from "#base";
import { Http2Connection } from "./connection.ts";
import type { Http2Stream } from "./stream.ts";

const sessions: ClientHttp2Session[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) {
    if (session.destroyed) continue;
    session.destroy();
    await once(session, "close");
  }
});

function connected(onStream: (stream: Http2Stream) => void) {
  const [own, theirs] = duplexPair();
  const connection = new Http2Connection({
    socket: theirs,
    idleMs: 90_000,
    clock: realClock(),
    log: silentLogger,
    onStream,
  });
  const session = connect("http://k8ts", { createConnection: () => own });
  sessions.push(session);
  session.on("error", () => {});
  session.on("close", () => theirs.destroy());
  return { connection, session };
}

/** The n-th byte of a body or an answer says where it is, and of what. */
function pattern(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + seed;
  return bytes;
}

/** Sizes as they are: mostly small, sometimes larger than any window. */
const sizeFrom = (random: Random) => random.integer(random.pick([1, 100, 5_000, 70_000, 400_000]));

/** A body in pieces of any size, each when the one before has gone. */
async function sendIn(stream: ClientHttp2Stream, bytes: Buffer, random: Random): Promise<void> {
  let at = 0;
  while (at < bytes.length && stream.writable) {
    const to = at + 1 + random.integer(random.pick([100, 20_000, 100_000]));
    const piece = bytes.subarray(at, to);
    at = to;
    await new Promise<void>((resolve) => stream.write(piece, () => resolve()));
  }
  stream.end();
}

/** Says how much came and whether it was right, then sends as much as it was asked for. */
async function answer(stream: Http2Stream, random: Random): Promise<void> {
  const [seed = 0, want = 0] = (stream.fields[":path"] ?? "").slice(1).split("/").map(Number);
  const body = stream.body === undefined ? Buffer.alloc(0) : await buffer(stream.body);
  const right = body.equals(pattern(body.length, seed));
  stream.respond(200, { "x-length": body.length, "x-right": String(right) });
  const bytes = pattern(want, seed + 1);
  for (let at = 0; at < bytes.length; ) {
    const to = at + 1 + random.integer(90_000);
    const piece = bytes.subarray(at, to);
    at = to;
    if (random.next() < 0.3) await new Promise((resolve) => stream.write(piece, resolve));
    else stream.write(piece);
  }
  stream.end();
}

async function ask(session: ClientHttp2Session, seed: number, random: Random): Promise<string> {
  const body = pattern(sizeFrom(random), seed);
  const want = sizeFrom(random);
  const endStream = random.next() < 0.4;
  const stream = session.request({ ":path": `/${seed}/${want}`, ":method": endStream ? "GET" : "POST" }, { endStream });
  const head = once(stream, "response");
  head.catch(() => {});
  if (random.next() < 0.2) {
    stream.on("error", () => {});
    const sending = endStream ? undefined : sendIn(stream, body, random);
    for (let turns = random.integer(40); turns > 0; turns--) await nextTurn();
    const closed = stream.closed ? undefined : once(stream, "close");
    stream.close(constants.NGHTTP2_CANCEL);
    stream.resume();
    await closed;
    await sending;
    return "taken back";
  }
  const reading = buffer(stream);
  const sending = endStream ? undefined : sendIn(stream, body, random);
  const [[headers], got] = await Promise.all([head, reading, sending]);
  expect(headers).toMatchObject({ "x-length": String(endStream ? 0 : body.length), "x-right": "true" });
  expect(got.equals(pattern(want, seed + 1))).toBe(true);
  return "answered";
}

describe("Node's client", () => {
  it.each([1, 2])("gets what it asks for, whatever else goes on (seed %i)", async (seed) => {
    const random = seededRandom(seed);
    const failures: unknown[] = [];
    const { connection, session } = connected((stream) => {
      answer(stream, random).catch((error: unknown) => {
        if (!stream.destroyed) failures.push(error);
      });
    });
    const ends: string[] = [];
    let asked = 0;
    const workers = Array.from({ length: 25 }, async () => {
      while (asked < 250) ends.push(await ask(session, ++asked, random));
    });
    await Promise.all(workers);
    expect(failures).toEqual([]);
    expect(ends.filter((end) => end === "answered").length).toBeGreaterThan(150);
    expect(ends.filter((end) => end === "taken back").length).toBeGreaterThan(20);
    // Nothing is left, and nobody was thrown out.
    await new Promise((resolve) => session.ping(Buffer.alloc(8), resolve));
    expect([connection.streams, session.destroyed]).toEqual([0, false]);
  });

  it("finishes what it has begun when the server closes", async () => {
    const streams: Http2Stream[] = [];
    const { connection, session } = connected((stream) => streams.push(stream));
    const stream = session.request({ ":path": "/" });
    const reading = buffer(stream);
    while (streams.length === 0) await nextTurn();
    connection.close();
    await once(session, "goaway");
    streams[0]?.respond(200, {});
    streams[0]?.end(Buffer.from("done"));
    expect((await reading).toString()).toBe("done");
    if (!session.destroyed) await once(session, "close");
  });
});
