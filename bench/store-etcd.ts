/**
 * The store on etcd against bare gRPC on the same etcd in the same run: puts, a long list, and the replay of a watch.
 */

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@grpc/grpc-js";
import { realClock } from "#base";
import { openStore, type Store } from "#store";
import { openChannel } from "../src/store/etcd/channel.ts";
import { createRpc, type Message, type Method } from "../src/store/etcd/rpc.ts";
import { type EtcdServer, startEtcd } from "../src/store/testing/etcd-server.ts";
import type { Figure } from "./run.ts";

const VALUE = Buffer.alloc(1024, "0123456789abcdef");
const PUTS = 6000;
const ROUNDS = 3;
const LISTED = 10_000;
const rpc = createRpc();

export async function run(report: (figure: Figure) => void): Promise<void> {
  const etcd = await startEtcd({ members: 1, tls: false, dir: await mkdtemp(join(tmpdir(), "bench-etcd-")) });
  const client = openChannel(etcd.endpoints[0] ?? "", {});
  const store = await open(etcd);
  try {
    for (const writers of [32, 100]) for (const line of await measurePuts(store, client, writers)) report(line);
    const start = await store.revision();
    await inParallel(LISTED, 100, (i) => put(store, `/list/${i}`));
    report(await measureList(store, client));
    report(await measureReplay(etcd, client, start));
  } finally {
    await store.close();
    client.close();
    await etcd.stop();
  }
}

function open(etcd: EtcdServer): Promise<Store> {
  return openStore({ kind: "etcd", endpoints: etcd.endpoints, clock: realClock() });
}

/** etcd's plain puts are the bound; its transactions show how much of the difference is etcd's own. */
async function measurePuts(store: Store, client: Client, writers: number): Promise<Figure[]> {
  let round = 0;
  const rounds = (write: (key: string) => Promise<void>) => async () => {
    const prefix = `/puts/${writers}/${round++}`;
    await inParallel(PUTS, writers, (i) => write(`${prefix}/${i}`));
  };
  const stored = rounds((key) => put(store, key));
  const bare = rounds(async (key) => {
    await call(client, rpc.put, { key: Buffer.from(key), value: VALUE });
  });
  const transacted = rounds(async (text) => {
    const key = Buffer.from(text);
    const compare = [{ key, target: 1, createRevision: 0 }];
    await call(client, rpc.txn, { compare, success: [{ put: { key, value: VALUE } }], failure: [{ range: { key } }] });
  });
  const name = `puts of 1 KB, ${writers} writers`;
  const toPuts = await best(stored, bare);
  const toTransactions = await best(stored, transacted);
  return [
    figure(name, "puts/s", PUTS, toPuts.value, toPuts.bound),
    figure(`${name}, to bare transactions`, "puts/s", PUTS, toTransactions.value, toTransactions.bound),
  ];
}

async function measureList(store: Store, client: Client): Promise<Figure> {
  const { value, bound } = await best(
    async () => {
      const { entries } = await store.list("/list/");
      if (entries.length !== LISTED) throw new Error(`The store lists ${entries.length} entries.`);
    },
    async () => {
      const { kvs } = await call(client, rpc.range, { key: Buffer.from("/list/"), rangeEnd: Buffer.from("/list0") });
      if (kvs.length !== LISTED) throw new Error(`etcd lists ${kvs.length} entries.`);
    },
  );
  return figure(`list of ${LISTED.toLocaleString("en")} entries of 1 KB`, "entries/s", LISTED, value, bound);
}

/** From the past: so the writers do not set the pace. A new store each time, so that its window does not serve it. */
async function measureReplay(etcd: EtcdServer, client: Client, after: number): Promise<Figure> {
  const { value, bound } = await best(
    async () => {
      const store = await open(etcd);
      let seen = 0;
      for await (const { changes } of store.watch("/list/", { after, signal: new AbortController().signal })) {
        seen += changes.length;
        if (seen >= LISTED) break;
      }
      await store.close();
    },
    async () => {
      const { path, encode, decode } = rpc.watch;
      const stream = client.makeBidiStreamRequest(path, encode, decode);
      stream.on("error", () => {});
      const create = {
        key: Buffer.from("/list/"),
        rangeEnd: Buffer.from("/list0"),
        startRevision: after + 1,
        prevKv: true,
      };
      stream.write({ create: { ...create, fragment: true } });
      let seen = 0;
      for await (const { events } of stream as AsyncIterable<Message<"WatchResponse">>) {
        seen += events.length;
        if (seen >= LISTED) break;
      }
      stream.cancel();
    },
  );
  return figure(`watch replay of ${LISTED.toLocaleString("en")} changes`, "changes/s", LISTED, value, bound);
}

/**
 * Rounds of both take turns, so that a change in the machine's mood meets both; the shortest counts. In milliseconds.
 */
async function best(
  subject: () => Promise<void>,
  bare: () => Promise<void>,
): Promise<{ value: number; bound: number }> {
  let value = Number.POSITIVE_INFINITY;
  let bound = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    bound = Math.min(bound, await timed(bare));
    value = Math.min(value, await timed(subject));
  }
  return { value, bound };
}

function figure(name: string, unit: string, count: number, ms: number, boundMs: number): Figure {
  const value = (count / ms) * 1000;
  const bound = (count / boundMs) * 1000;
  return { name, value, unit, bound, ratio: value / bound };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function put(store: Store, key: string): Promise<void> {
  const outcome = await store.create(key, VALUE);
  if (!outcome.ok) throw new Error(`${key} exists already.`);
}

function call<Req, Res>(client: Client, method: Method<Req, Res>, request: Req): Promise<Res> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method.path, method.encode, method.decode, request, (error, answer) => {
      if (error !== null || answer === undefined) reject(error);
      else resolve(answer);
    });
  });
}

async function inParallel(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
