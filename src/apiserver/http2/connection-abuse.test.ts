/** Abusive clients, and clients that do not read: their cost is bounded. */
import { describe, expect, it } from "vitest";
import { settled } from "#base";
import { FLAG, FRAME, PREFACE, SETTING } from "./codes.ts";
import type { Http2Stream } from "./stream.ts";
import {
  data,
  frame,
  get,
  headers,
  lastData,
  ping,
  post,
  rstStream,
  settings,
  windowUpdate,
} from "./testing/frames.ts";
import { counting, TestClient } from "./testing/test-client.ts";

const times = (count: number, make: (i: number) => Buffer) => Array.from({ length: count }, (_, i) => make(i));
const id = (i: number) => 2 * i + 1;

/** Each is allowed a thousand times in a burst, then a hundred times in a second. */
const floods: Readonly<Record<string, (i: number) => Buffer>> = {
  "cancelled requests (CVE-2023-44487)": (i) => Buffer.concat([post(id(i)), rstStream(id(i))]),
  "DATA after END_STREAM": (i) => Buffer.concat([get(id(i)), data(id(i), "a")]),
  "WINDOW_UPDATE by 0": (i) => Buffer.concat([post(id(i)), windowUpdate(id(i), 0)]),
  "WINDOW_UPDATE above the limit": (i) => Buffer.concat([post(id(i)), windowUpdate(id(i), 2 ** 31 - 1)]),
  "wrong content-lengths": (i) => Buffer.concat([post(id(i), ["content-length", "1"]), lastData(id(i), "ab")]),
  "malformed trailers": (i) => Buffer.concat([post(id(i)), headers(id(i), [["x", "y"]])]),
  "malformed requests": (i) => headers(id(i), [["x", "y"]]),
  "PING (CVE-2019-9512)": () => ping(),
  "SETTINGS (CVE-2019-9515)": () => settings([SETTING.initialWindowSize, 5]),
};

describe("a flood", () => {
  it.each(Object.entries(floods))("of %s", async (_, make) => {
    const client = await TestClient.greeted();
    await client.clock.advance(1_000);
    await client.send(...times(1_000, make));
    expect(client.socket.destroyed).toBe(false);
    await client.clock.advance(1_000);
    await client.send(...times(100, (i) => make(1_000 + i)));
    expect(client.socket.destroyed).toBe(false);
    await client.send(make(1_100));
    expect(client.sent.at(-1)).toMatch(/^goaway after \d+: enhanceYourCalm$/);
    expect([client.socket.destroyed, client.connection.streams]).toEqual([true, 0]);
    expect(client.clock.pending).toBe(0);
  });

  it("of frames that cost nothing is ignored", async () => {
    const client = await TestClient.greeted({ onStream: counting });
    await client.send(
      post(1),
      ...times(3_000, (i) => frame(FRAME.priority, 0, id(i), Buffer.from([0, 0, 0, 0, i % 256]))),
      ...times(3_000, () => frame(99, 0, 0, "unknown")),
      ...times(3_000, () => windowUpdate(0, 1)),
      ...times(3_000, () => frame(FRAME.settings, FLAG.ack, 0)),
      lastData(1, "abc"),
    );
    expect(client.sent).toEqual(["headers 1: 200", "data 1: 1 end"]);
  });

  it("of requests: at most a thousand at a time (5.1.2)", async () => {
    const client = await TestClient.greeted();
    await client.send(...times(1_001, (i) => get(id(i))));
    expect(client.sent).toEqual(["reset 2001: refusedStream"]);
    expect(client.connection.streams).toBe(1_000);
    client.stream(500).destroy();
    await client.send(get(2003));
    expect(client.streams.at(-1)?.id).toBe(2003);
  });

  it("of WINDOW_UPDATE by 1 gets no more than it asks for (CVE-2019-9511)", async () => {
    const client = await TestClient.greeted({ onStream: large(1_000_000) });
    await client.send(settings([SETTING.initialWindowSize, 0]), get(1), ...times(500, () => windowUpdate(1, 1)));
    expect(client.received(1).length).toBe(500);
  });
});

const large = (bytes: number) => (stream: Http2Stream) => {
  stream.respond(200, {});
  stream.end(Buffer.alloc(bytes));
};

describe("a client that does not read", () => {
  async function deaf(onStream?: (stream: Http2Stream) => void): Promise<TestClient> {
    const client = new TestClient({ deaf: true, ...(onStream !== undefined && { onStream }) });
    await client.send(PREFACE, settings([SETTING.initialWindowSize, 2 ** 31 - 1]), windowUpdate(0, 2 ** 30));
    return client;
  }

  it("has few bytes in the socket, and gets all when it reads", async () => {
    const client = await deaf(large(5_000_000));
    await client.send(get(1), get(3));
    expect(client.socket.writableLength).toBeLessThan(600_000);
    expect(client.stream(0).waiting + client.stream(1).waiting).toBeGreaterThan(9_000_000);
    client.listen();
    await settled(10_000);
    expect([client.received(1).length, client.received(3).length]).toEqual([5_000_000, 5_000_000]);
  });

  it("is disconnected when too many heads of answers wait", async () => {
    const client = await deaf((stream) => {
      stream.respond(200, { warning: "w".repeat(4_000) });
      stream.end(Buffer.alloc(100_000));
    });
    let sent = 0;
    for (; sent < 1_500 && !client.socket.destroyed; sent += 10) {
      await client.send(...times(10, (i) => Buffer.concat([get(id(sent + i)), rstStream(id(sent + i))])));
      await client.clock.advance(100);
    }
    expect(sent).toBeGreaterThan(1_000);
    expect(client.socket.destroyed).toBe(true);
    expect([client.connection.streams, client.clock.pending]).toEqual([0, 0]);
  });

  it("is disconnected when too many acknowledgements wait", async () => {
    const client = await deaf(large(1_000_000));
    await client.send(get(1));
    let seconds = 0;
    for (; seconds < 200 && !client.socket.destroyed; seconds++) {
      await client.send(...times(99, () => ping()));
      await client.clock.advance(1_000);
    }
    // Ten thousand of them wait.
    expect(seconds).toBe(102);
    expect(client.socket.destroyed).toBe(true);
  });

  it("is disconnected after a connection error, without reading GOAWAY", async () => {
    const client = await deaf(large(1_000_000));
    await client.send(get(1));
    await client.send(data(2));
    expect(client.socket.destroyed).toBe(false);
    expect(client.connection.streams).toBe(0);
    await client.clock.advance(5_000);
    expect(client.socket.destroyed).toBe(true);
    expect(client.clock.pending).toBe(0);
  });
});

describe("a client that requests much and reads nothing", () => {
  const asking = async (bytes: number) => {
    const client = await TestClient.greeted({ onStream: large(bytes) });
    await client.send(settings([SETTING.initialWindowSize, 1]), ...times(4, (i) => get(id(i))));
    expect(client.sent.filter((line) => line.startsWith("data"))).toHaveLength(4);
    return client;
  };

  it("has its answers reset after a while (CVE-2019-9517)", async () => {
    const client = await asking(12_000_000);
    await client.clock.advance(59_000);
    expect(client.connection.streams).toBe(4);
    await client.send(windowUpdate(7, 1));
    await client.clock.advance(2_000);
    // 36 MB of the others are reset; one has made progress.
    expect(client.sent).toEqual(["data 7: 1", "reset 1: cancel", "reset 3: cancel", "reset 5: cancel"]);
    expect(client.connection.streams).toBe(1);
  });

  it("has its answers reset if the connection's window is closed", async () => {
    const client = await TestClient.greeted({ onStream: large(12_000_000) });
    await client.send(settings([SETTING.initialWindowSize, 2 ** 30]), ...times(4, (i) => get(id(i))));
    await client.clock.advance(61_000);
    expect(client.connection.streams).toBe(0);
  });

  it("keeps its answers while other streams make progress", async () => {
    const client = await TestClient.greeted({ onStream: large(12_000_000) });
    await client.send(settings([SETTING.initialWindowSize, 2 ** 30]), ...times(30, (i) => get(id(i))));
    for (let seconds = 0; seconds < 300; seconds += 20) {
      await client.send(windowUpdate(0, 1_000));
      await client.clock.advance(20_000);
    }
    expect(client.connection.streams).toBe(30);
  });

  it("keeps small answers", async () => {
    const client = await asking(1_000_000);
    await client.clock.advance(600_000);
    expect(client.connection.streams).toBe(4);
  });

  it.each([
    { name: "keeps small answers that are not complete", bytes: 20_000_000, want: 1 },
    {
      name: "has large answers that are not complete reset, such as the initial state of a watch",
      bytes: 40_000_000,
      want: 0,
    },
  ])("$name", async ({ bytes, want }) => {
    const client = await TestClient.greeted({
      onStream: (stream) => {
        stream.respond(200, {});
        stream.write(Buffer.alloc(bytes));
      },
    });
    await client.send(get(1));
    // What is added is no progress.
    for (let minute = 0; minute < 10; minute++) {
      client.stream().write(Buffer.from("more"));
      await client.clock.advance(60_000);
    }
    expect(client.connection.streams).toBe(want);
    await client.cut();
    expect(client.clock.pending).toBe(0);
  });
});
