/**
 * How much memory a hostile client takes, after the garbage collector: as many connections as the figure is divided by
 * are open at a time. `K8TS_FIGURES=1` prints the figures of docs/security.md.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { nextTurn } from "#base";
import { FLAG, FRAME, PREFACE, SETTING } from "./codes.ts";
import type { Http2Stream } from "./stream.ts";
import {
  continuation,
  data,
  fieldBlock,
  frame,
  GET,
  get,
  ping,
  post,
  rstStream,
  settings,
  windowUpdate,
} from "./testing/frames.ts";
import { TestClient } from "./testing/test-client.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const block = fieldBlock(GET);
const id = (i: number) => 2 * i + 1;
const times = (count: number, make: (i: number) => Buffer) => Array.from({ length: count }, (_, i) => make(i));
const BODY = Buffer.alloc(MIB);

/** Small Buffers are slices of a pool, which each of them keeps alive: the next one is of another pool. */
const renewPool = () => times(4, () => Buffer.allocUnsafe(Buffer.poolSize / 4));

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Until it does not shrink any more: buffers are freed some time after the objects that refer to them. */
async function usedBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let unchanged = 0; unchanged < 4; ) {
    await nextTurn();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    if (heapUsed + external < 0.999 * least) unchanged = 0;
    else unchanged++;
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

interface Attack {
  readonly name: string;
  readonly connections?: number;
  readonly answer?: (stream: Http2Stream) => void;
  readonly run: (client: TestClient) => Promise<void>;
  readonly maxBytes: number;
}

const large = (stream: Http2Stream) => {
  stream.respond(200, {});
  stream.end(BODY);
};

const attacks: readonly Attack[] = [
  { name: "opens a connection and sends nothing", run: async () => {}, maxBytes: 128 * KIB },
  { name: "sends half of the preface", run: (client) => client.send(PREFACE.subarray(0, 10)), maxBytes: 128 * KIB },
  {
    name: "sends CONTINUATION without end",
    run: async (client) => {
      await client.send(PREFACE, settings(), frame(FRAME.headers, FLAG.endStream, 1, block));
      for (let i = 0; i < 100 && !client.socket.destroyed; i++)
        await client.send(continuation(1, BODY.subarray(0, 16_000), 0));
      expect(client.connection.streams).toBe(0);
      await client.clock.advance(5_000);
      expect(client.socket.destroyed).toBe(true);
    },
    maxBytes: 512 * KIB,
  },
  {
    name: "stops in the middle of a field block",
    run: async (client) => {
      await client.send(PREFACE, settings(), frame(FRAME.headers, FLAG.endStream, 1, block));
      await client.send(
        ...times(900, () => continuation(1, "a", 0)),
        ...times(7, () => continuation(1, BODY.subarray(0, 16_000), 0)),
      );
      expect(client.socket.destroyed).toBe(false);
    },
    maxBytes: 512 * KIB,
  },
  {
    name: "cancels requests as soon as they are opened",
    answer: large,
    run: async (client) => {
      await client.send(PREFACE, settings());
      for (let i = 0; i < 1_000; i += 100) {
        await client.send(...times(100, (j) => Buffer.concat([get(id(i + j)), rstStream(id(i + j))])));
        client.streams.length = 0;
      }
      expect(client.socket.destroyed).toBe(false);
    },
    maxBytes: 1 * MIB,
  },
  {
    name: "sends PING without end and reads nothing",
    answer: large,
    run: async (client) => {
      await client.send(PREFACE, settings(), windowUpdate(0, 2 ** 30), get(1));
      for (let seconds = 0; seconds < 95; seconds++) {
        await client.send(...times(99, () => ping()));
        await client.clock.advance(1_000);
      }
      expect(client.socket.destroyed).toBe(false);
    },
    maxBytes: 6 * MIB,
    connections: 3,
  },
  {
    name: "sends PING and reads nothing while others use memory",
    answer: large,
    run: async (client) => {
      await client.send(PREFACE, settings(), windowUpdate(0, 2 ** 30), get(1));
      for (let i = 0; i < 900; i++) {
        await client.send(ping());
        renewPool();
      }
    },
    maxBytes: 2 * MIB,
    connections: 3,
  },
  {
    name: "sends a field block in small parts while others use memory",
    run: async (client) => {
      await client.send(PREFACE, settings(), frame(FRAME.headers, FLAG.endStream, 1, block));
      for (let i = 0; i < 900; i++) {
        await client.send(continuation(1, "a", 0));
        renewPool();
      }
    },
    maxBytes: 1 * MIB,
    connections: 3,
  },
  {
    name: "sends bodies byte by byte that nobody reads",
    run: async (client) => {
      await client.send(PREFACE, settings(), ...times(900, (i) => post(id(i))));
      for (let round = 0; round < 50; round++) await client.send(...times(900, (i) => data(id(i), "a")));
      expect(client.connection.streams).toBe(900);
    },
    maxBytes: 8 * MIB,
    connections: 2,
  },
  {
    name: "changes SETTINGS_INITIAL_WINDOW_SIZE without end",
    answer: large,
    run: async (client) => {
      await client.send(PREFACE, settings(), ...times(500, (i) => get(id(i))));
      for (let i = 0; i < 9; i++)
        await client.send(...times(100, (j) => settings([SETTING.initialWindowSize, j % 2 === 0 ? 0 : 2 ** 30])));
    },
    maxBytes: 4 * MIB,
    connections: 3,
  },
  {
    name: "opens windows by 0 and beyond the limit",
    answer: large,
    run: async (client) => {
      await client.send(PREFACE, settings([SETTING.initialWindowSize, 0]));
      await client.send(
        ...times(900, (i) =>
          Buffer.concat([get(id(i)), windowUpdate(id(i), i % 2 === 0 ? 0 : 2 ** 31 - 1), windowUpdate(id(i), 1)]),
        ),
      );
    },
    maxBytes: 1 * MIB,
  },
  {
    name: "opens a thousand requests and grants no window",
    answer: large,
    run: (client) => client.send(PREFACE, settings([SETTING.initialWindowSize, 0]), ...times(1_000, (i) => get(id(i)))),
    maxBytes: 8 * MIB,
    connections: 3,
  },
  {
    name: "sends bodies that nobody reads",
    run: async (client) => {
      await client.send(PREFACE, settings());
      for (let i = 0; i < 280; i++)
        await client.send(post(id(i)), ...times(16, () => data(id(i), BODY.subarray(0, 16_000))));
      expect([client.socket.destroyed, client.connection.streams]).toEqual([false, 280]);
    },
    // 64 MiB that are kept, and the connection's window, which does not open again.
    maxBytes: 128 * MIB,
    connections: 1,
  },
];

describe("a client that", () => {
  it.each(attacks)("$name", async ({ name, answer, run, maxBytes, connections = 10 }) => {
    const open = () => new TestClient({ deaf: true, ...(answer !== undefined && { onStream: answer }) });
    // The first one also takes what is compiled and cached for all.
    const first = open();
    await run(first);
    await first.cut();
    const before = await usedBytes();
    const clients = Array.from({ length: connections }, open);
    for (const client of clients) await run(client);
    const bytes = ((await usedBytes()) - before) / connections;
    if (process.env.K8TS_FIGURES !== undefined) console.log(`| ${name} | ${Math.round(bytes / KIB)} KiB |`);
    expect(bytes).toBeLessThan(maxBytes);
    for (const client of clients) await client.cut();
    expect(clients.map(({ connection, clock }) => connection.streams + clock.pending)).toEqual(clients.map(() => 0));
  });
});
