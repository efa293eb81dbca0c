/** Flow control of answers and bodies, and how requests end. */
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { settled } from "#base";
import { CODE, FLAG, SETTING } from "./codes.ts";
import { data, get, lastData, padded, post, rstStream, settings, windowUpdate } from "./testing/frames.ts";
import { TestClient } from "./testing/test-client.ts";

const KIB = 1024;
const window = (bytes: number) => settings([SETTING.initialWindowSize, bytes]);

/** Requests by their numbers, and answers to them of so many bytes. */
async function answering(sizes: Readonly<Record<number, number>>, windowBytes?: number): Promise<TestClient> {
  const client = await TestClient.greeted();
  if (windowBytes !== undefined) await client.send(window(windowBytes));
  const ids = Object.keys(sizes).map(Number);
  await client.send(...ids.map((id) => get(id)));
  for (const stream of client.streams) {
    stream.respond(200, {});
    stream.end(Buffer.alloc(sizes[stream.id] ?? 0, stream.id));
  }
  await settled();
  return client;
}

describe("an answer", () => {
  it("without a body", async () => {
    const client = await answering({ 1: 0 }, 0);
    expect(client.sent).toEqual(["settings ack", "headers 1: 200", "data 1: 0 end"]);
    expect(client.connection.streams).toBe(0);
  });

  it("with a head of several frames", async () => {
    const client = await TestClient.greeted();
    await client.send(get(1));
    client.stream().respond(200, { a: "v".repeat(40_000) });
    client.stream().end();
    await settled();
    expect(client.frames.slice(-4).map(({ type, flags, payload }) => [type, flags, payload.length])).toEqual([
      [1, 0, 16_384],
      [9, 0, 16_384],
      [9, FLAG.endHeaders, expect.any(Number)],
      [0, FLAG.endStream, 0],
    ]);
  });

  it("waits for the window of its stream", async () => {
    const client = await answering({ 1: 10 }, 4);
    expect(client.sent.slice(1)).toEqual(["headers 1: 200", "data 1: 4"]);
    expect(client.stream().waiting).toBe(6);
    await client.send(windowUpdate(1, 5));
    expect(client.sent).toEqual(["data 1: 5"]);
    await client.send(windowUpdate(1, 5));
    expect(client.sent).toEqual(["data 1: 1 end"]);
    expect(client.received(1)).toEqual(Buffer.alloc(10, 1));
  });

  it("waits for the connection's window", async () => {
    const client = await answering({ 1: 70_000 }, 1_000_000);
    expect(client.received(1).length).toBe(65_535);
    await client.send(windowUpdate(1, 1_000));
    expect(client.received(1).length).toBe(65_535);
    await client.send(windowUpdate(0, 4_000));
    expect(client.received(1).length).toBe(69_535);
    await client.send(windowUpdate(0, 4_000));
    expect(client.received(1)).toEqual(Buffer.alloc(70_000, 1));
    expect(client.connection.streams).toBe(0);
  });

  it("waits while its window is negative (6.9.2)", async () => {
    const client = await answering({ 1: 100 }, 50);
    await client.send(window(20));
    await client.send(windowUpdate(1, 30));
    expect(client.received(1).length).toBe(50);
    await client.send(windowUpdate(1, 1));
    expect(client.received(1).length).toBe(51);
    await client.send(window(60));
    expect(client.received(1).length).toBe(91);
    await client.send(window(1_000));
    expect(client.received(1)).toEqual(Buffer.alloc(100, 1));
    expect(client.sent.at(-1)).toBe("data 1: 9 end");
  });

  it("reports when what was written has been sent", async () => {
    const client = await TestClient.greeted();
    await client.send(window(3), get(1));
    const taken: string[] = [];
    const stream = client.stream();
    stream.respond(200, {});
    stream.write(Buffer.from("abc"), (fine) => taken.push(`abc ${fine}`));
    stream.write(Buffer.from("def"), (fine) => taken.push(`def ${fine}`));
    await settled();
    expect([taken, stream.waiting]).toEqual([[], 3]);
    await client.send(windowUpdate(1, 3));
    expect(taken).toEqual(["abc true", "def true"]);
    stream.end();
    await settled();
    stream.write(Buffer.from("x"), (fine) => taken.push(`x ${fine}`));
    expect(taken.at(-1)).toBe("x false");
  });
});

describe("several answers", () => {
  it("send a frame each in turn", async () => {
    const client = await answering({ 1: 40_000, 3: 20_000, 5: 3 }, 1_000_000);
    expect(client.sent.filter((line) => line.startsWith("data"))).toEqual([
      "data 1: 16384",
      "data 3: 16384",
      "data 5: 3 end",
      "data 1: 16384",
      "data 3: 3616 end",
      "data 1: 7232 end",
    ]);
  });

  it("do not wait for a stream with a closed window", async () => {
    const client = await answering({ 1: 100, 3: 10 }, 10);
    expect(client.received(3).length).toBe(10);
    expect(client.sent).toContain("data 3: 10 end");
  });

  it("share a small window of the connection", async () => {
    const client = await answering({ 1: 1_000_000, 3: 1_000_000, 5: 1_000_000 }, 1_000_000);
    for (let i = 0; i < 30; i++) await client.send(windowUpdate(0, 1_000));
    const sizes = [1, 3, 5].map((id) => client.received(id).length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(16_384);
  });

  it("share a write of one turn of the event loop", async () => {
    const ids = Array.from({ length: 40 }, (_, i) => 2 * i + 1);
    const client = await TestClient.greeted();
    await client.send(window(1_000_000), windowUpdate(0, 2 ** 30), ...ids.map((id) => get(id)));
    for (const stream of client.streams) {
      stream.respond(200, {});
      stream.end(Buffer.alloc(100_000));
    }
    await settled();
    const turns = client.sent.filter((line) => line.startsWith("data")).map((line) => line.split(/[ :]/)[1]);
    // Every stream has sent its first frame before one sends its second.
    expect(turns.slice(0, 40)).toEqual(ids.map(String));
    expect(turns.slice(40, 80)).toEqual(ids.map(String));
    expect(client.connection.streams).toBe(0);
  });
});

describe("a body", () => {
  it("is read as it arrives", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), data(1, "ab"), data(1, padded("cd", 7), FLAG.padded));
    const body = client.stream().body;
    if (body === undefined) throw new Error("no body");
    const read = text(body);
    await client.send(data(1, "ef"), lastData(1, "g"));
    expect(await read).toBe("abcdefg");
  });

  it("opens its window as it is read, and not before", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), ...Array.from({ length: 16 }, () => data(1, Buffer.alloc(16 * KIB))));
    expect(client.sent).toEqual([]);
    client.stream().body?.on("data", () => {});
    await settled();
    expect(client.sent).toEqual([`window 1: +${256 * KIB}`]);
    await client.send(lastData(1, Buffer.alloc(16 * KIB)));
    expect(client.sent).toEqual([]);
  });

  it("is limited by its window while nobody reads it", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), ...Array.from({ length: 16 }, () => data(1, Buffer.alloc(16 * KIB))));
    await client.send(data(1, "a"));
    expect(client.sent).toEqual(["reset 1: flowControlError"]);
    expect(client.stream().body?.destroyed).toBe(true);
  });

  it("opens its window for padding at once", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), ...Array.from({ length: 256 }, () => data(1, padded("", 255), FLAG.padded)));
    expect(client.sent).toEqual([`window 1: +${256 * 256}`]);
  });

  it("counts for the connection's window, also if it is discarded", async () => {
    const client = await TestClient.greeted();
    const half = 8 * KIB * KIB;
    await client.send(
      post(1),
      rstStream(1),
      ...Array.from({ length: half / (16 * KIB) }, () => data(1, Buffer.alloc(16 * KIB))),
    );
    expect(client.sent).toEqual(["reset 1: streamClosed", `window 0: +${half}`]);
  });

  it("does not open the connection's window while too much is unread in all streams", async () => {
    const client = await TestClient.greeted();
    const full = Array.from({ length: 16 }, () => Buffer.alloc(16 * KIB));
    for (let i = 0; i < 320; i++) await client.send(post(2 * i + 1), ...full.map((part) => data(2 * i + 1, part)));
    const opened = client.sent.filter((line) => line.startsWith("window 0"));
    expect(opened.length).toBe(8);
    // Reading and resetting make room.
    for (const stream of client.streams.slice(0, 40)) stream.body?.resume();
    for (const stream of client.streams.slice(40, 80)) stream.destroy();
    await settled();
    expect(client.sent.filter((line) => line.startsWith("window 0"))).toEqual([`window 0: +${16 * KIB * KIB}`]);
  });

  it("in single bytes is joined while nobody reads it", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), ...Array.from({ length: 1_000 }, (_, i) => data(1, Buffer.from([i % 256]))));
    const chunks: Buffer[] = [];
    client.stream().body?.on("data", (chunk: Buffer) => chunks.push(chunk));
    await settled();
    expect(Buffer.concat(chunks)).toEqual(Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256)));
    expect(chunks.length).toBeLessThan(100);
  });

  it("is not awaited once the answer is complete (8.1)", async () => {
    const client = await TestClient.greeted();
    await client.send(post(1), data(1, "abc"));
    client.stream().respond(413, {});
    client.stream().end(Buffer.from("too much"));
    await settled();
    expect(client.sent).toEqual(["headers 1: 413", "data 1: 8 end", "reset 1: noError"]);
    expect([client.stream().body?.destroyed, client.connection.streams]).toEqual([true, 0]);
    await client.send(data(1, "rest"), lastData(1));
    expect(client.sent).toEqual([]);
  });
});

describe("a request ends", () => {
  /** With a body on its way and an answer that waits. */
  async function underWay() {
    const client = await TestClient.greeted();
    await client.send(window(2), post(1), data(1, "abc"));
    const stream = client.stream();
    const heard: string[] = [];
    stream.once("close", () => heard.push("close"));
    const forgotten = () => heard.push("forgotten");
    stream.once("close", forgotten);
    stream.off("close", forgotten);
    stream.body?.on("close", () => heard.push("body's close"));
    stream.respond(200, {});
    stream.write(Buffer.from("defg"), (fine) => heard.push(`taken ${fine}`));
    await settled();
    expect(client.sent).toEqual(["settings ack", "headers 1: 200", "data 1: 2"]);
    expect(heard).toEqual([]);
    return { client, stream, heard };
  }

  it.each<readonly [string, (client: TestClient) => Promise<void>, readonly string[]]>([
    ["when its client resets it", (client) => client.send(rstStream(1)), []],
    ["on a connection error", (client) => client.send(data(2)), ["goaway after 1: protocolError"]],
    ["when the connection is lost", (client) => client.cut(), []],
    [
      "when the server resets it",
      async (client) => {
        client.stream().destroy();
        client.stream().destroy();
        await settled();
      },
      ["reset 1: cancel"],
    ],
  ])("%s", async (_, end, want) => {
    const { client, stream, heard } = await underWay();
    await end(client);
    expect(heard).toEqual(["taken false", "close", "body's close"]);
    expect([stream.destroyed, stream.body?.destroyed, stream.waiting]).toEqual([true, true, 0]);
    expect(client.connection.streams).toBe(0);
    expect(client.sent).toEqual(want);
    // Calls on a closed stream do nothing.
    stream.respond(200, {});
    stream.write(Buffer.from("x"), (fine) => heard.push(`late ${fine}`));
    stream.end();
    stream.destroy();
    await settled();
    expect(heard.at(-1)).toBe("late false");
    expect(client.sent).toEqual([]);
  });

  it("once, if its reader resets it while it reads", async () => {
    const client = await TestClient.greeted({
      onStream: (stream) => stream.body?.on("data", () => stream.destroy()),
    });
    await client.send(post(1, ["content-length", "9"]));
    await client.send(lastData(1, "abc"));
    expect(client.sent).toEqual(["reset 1: cancel"]);
  });
});

describe("close", () => {
  it("ends an idle connection at once", async () => {
    const client = await TestClient.greeted();
    client.connection.close();
    client.connection.close();
    await settled();
    expect(client.sent).toEqual(["goaway after 0: noError"]);
    expect(client.ended).toBe(true);
  });

  it("finishes open requests, and accepts no more", async () => {
    const client = await TestClient.greeted();
    await client.send(get(1), post(3));
    client.connection.close();
    await settled();
    expect(client.sent).toEqual(["goaway after 3: noError"]);
    // They crossed GOAWAY: ignored without an error.
    await client.send(post(5), data(5, "abc"), windowUpdate(5, 1), rstStream(5), get(7));
    await client.send(lastData(3, "body"));
    expect([client.sent, client.streams.length, client.ended]).toEqual([[], 2, false]);
    for (const stream of client.streams) {
      stream.respond(200, {});
      stream.end(Buffer.from("ok"));
    }
    await settled();
    expect(client.sent).toEqual(["headers 1: 200", "headers 3: 200", "data 1: 2 end", "data 3: 2 end"]);
    expect(client.ended).toBe(true);
  });

  it("does not raise the last stream of GOAWAY on a later connection error (6.8)", async () => {
    const client = await TestClient.greeted();
    await client.send(get(1));
    client.connection.close();
    await client.send(get(5), data(2));
    expect(client.sent).toEqual(["goaway after 1: noError", "goaway after 1: protocolError"]);
    expect(client.socket.destroyed).toBe(true);
  });

  it("ends when the last request is reset", async () => {
    const client = await TestClient.greeted();
    await client.send(get(1));
    client.connection.close();
    await client.send(rstStream(1, CODE.noError));
    expect(client.ended).toBe(true);
  });
});
