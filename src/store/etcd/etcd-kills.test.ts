/**
 * Random kills and pauses of three members under load, judged by the linearizability checker: several stores write,
 * swap, delete, read and list, and whatever they were answered must fit one order.
 *
 * K8TS_KILL_ROUNDS: how many faults (default: 3). K8TS_KILL_SEED: which ones.
 */

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Judgement,
  judge,
  judgeParts,
  type Operation,
  REGISTER,
  type RegisterInput,
  type RegisterOutput,
  realClock,
  SET,
  type SetInput,
  type SetOutput,
  seededRandom,
} from "#base";
import { isStoreError } from "../model/errors.ts";
import type { Entry, Store, WriteOutcome } from "../model/store.ts";
import { type EtcdServer, findEtcd, startEtcd } from "../testing/etcd-server.ts";
import { openEtcdStore } from "./index.ts";

const ROUNDS = Number(process.env.K8TS_KILL_ROUNDS ?? 3);
const SEED = Number(process.env.K8TS_KILL_SEED ?? 20);
const PATIENCE = { timeout: 60_000, interval: 20 };
const REGISTERS = 4;
/** The checker looks at each set as a whole: a new one is begun after so many additions. */
const SET_ITEMS = 60;
const clock = realClock();

interface Keyed {
  readonly key: string;
  readonly input: RegisterInput;
}
type SetKeyed = SetInput & { readonly set: string };

class History {
  readonly registers: Operation<Keyed, RegisterOutput>[] = [];
  readonly sets: Operation<SetKeyed, SetOutput>[] = [];
  readonly surprises: unknown[] = [];
  known = 0;
  unknown = 0;
  failed = 0;

  /** Undefined where nobody knows; throws where it certainly did not happen. */
  async run<Output>(record: (operation: Times<Output>) => void, call: () => Promise<Output>): Promise<void> {
    const calledAt = clock.monotonic();
    try {
      const output = await call();
      this.known++;
      record({ calledAt, returnedAt: clock.monotonic(), output });
    } catch (error) {
      if (!isStoreError(error, "Unavailable")) this.surprises.push(error);
      // What certainly did not happen is no part of the history.
      else if (error.maybeApplied) {
        this.unknown++;
        record({ calledAt, returnedAt: Number.POSITIVE_INFINITY, output: undefined });
      } else this.failed++;
    }
  }
}

interface Times<Output> {
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly output: Output | undefined;
}

/** One client: reads a register and swaps what it found, adds to the set, lists it. */
async function work(store: Store, name: string, history: History, signal: AbortSignal): Promise<void> {
  const random = seededRandom(SEED + name.length * 1000 + name.charCodeAt(0));
  for (let i = 0; !signal.aborted; i++) {
    const key = `/register/${Math.floor(random.next() * REGISTERS)}`;
    let found: Entry | undefined;
    let isRead = false;
    await history.run<RegisterOutput>(
      (times) => times.output && history.registers.push({ ...times, input: { key, input: { kind: "read" } } }),
      async () => {
        found = await store.get(key);
        isRead = true;
        return { kind: "value", value: found?.value.toString() };
      },
    );
    if (isRead) {
      const to = found !== undefined && random.next() < 0.2 ? undefined : `${name}${i}`;
      const input: RegisterInput = { kind: "swap", from: found?.value.toString(), to };
      await history.run<RegisterOutput>(
        (times) => history.registers.push({ ...times, input: { key, input } }),
        async () => ({ kind: (await swapped(store, key, found, to)).ok ? "done" : "refused" }),
      );
    }
    const set = `/set/${Math.floor(history.sets.length / SET_ITEMS)}/`;
    const item = `${name}${i}`;
    const input: SetKeyed = random.next() < 0.7 ? { set, kind: "add", item } : { set, kind: "list" };
    await history.run<SetOutput>(
      (times) => history.sets.push({ ...times, input }),
      async () => {
        if (input.kind === "list")
          return { kind: "items", items: (await store.list(set)).entries.map(({ key: at }) => at.slice(set.length)) };
        const { ok } = await store.create(`${set}${item}`, Buffer.from(`${set}${item}`));
        return { kind: ok ? "changed" : "unchanged" };
      },
    );
    // Not as fast as possible: the members share the machine, and the checker's work grows with the history.
    await clock.sleep(10);
  }
}

function swapped(store: Store, key: string, found: Entry | undefined, to: string | undefined): Promise<WriteOutcome> {
  if (found === undefined) return store.create(key, Buffer.from(to ?? ""));
  return to === undefined ? store.delete(key, found.revision) : store.update(key, Buffer.from(to), found.revision);
}

describe.skipIf(findEtcd() === undefined)("three members that are killed and paused at random", () => {
  let etcd: EtcdServer;
  const stores: Store[] = [];
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3, tls: true, dir: await mkdtemp(join(tmpdir(), "k8ts-etcd-")) });
    for (let first = 0; first < 3; first++) {
      const endpoints = [...etcd.endpoints.slice(first), ...etcd.endpoints.slice(0, first)];
      stores.push(
        await openEtcdStore({ endpoints, ...(etcd.tls && { tls: etcd.tls }), clock, compactionIntervalMs: 0 }),
      );
    }
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await etcd?.stop();
  });

  it(`is linearizable through ${ROUNDS} faults`, { timeout: 60_000 + ROUNDS * 30_000 }, async () => {
    const random = seededRandom(SEED);
    const history = new History();
    const stop = new AbortController();
    const workers = stores.flatMap((store, i) =>
      ["a", "b"].map((name) => work(store, `${name}${"x".repeat(i)}`, history, stop.signal)),
    );
    const more = async (count: number) => {
      const goal = history.known + count;
      await expect.poll(() => history.known, PATIENCE).toBeGreaterThanOrEqual(goal);
    };
    await more(50);
    for (let round = 0; round < ROUNDS; round++) {
      const leader = (await etcd.leader()) ?? 0;
      const count = random.next() < 0.25 ? 2 : 1;
      const hit = [leader, (leader + 1) % 3, (leader + 2) % 3].slice(random.next() < 0.6 ? 0 : 1).slice(0, count);
      const kills = random.next() < 0.6;
      await Promise.all(hit.map((member) => (kills ? etcd.kill(member) : etcd.pause(member))));
      if (count === 1) await more(60);
      else {
        const lost = () => history.failed + history.unknown;
        const before = lost();
        await expect.poll(lost, PATIENCE).toBeGreaterThan(before);
      }
      for (const member of hit) kills ? etcd.restart(member) : etcd.resume(member);
      await etcd.healthy();
      await more(40);
    }
    stop.abort();
    await Promise.all(workers);
    expect(history.surprises).toEqual([]);
    const registers = history.registers.map(({ input, ...times }) => ({ ...times, input }));
    const keyed = {
      ...REGISTER,
      step: (state: string | undefined, { input }: Keyed, output: RegisterOutput | undefined) =>
        REGISTER.step(state, input, output),
    };
    const judgement: Judgement<unknown, unknown> = judgeParts(keyed, registers, ({ key }) => key);
    expect(judgement).toEqual({ kind: "linearizable" });
    for (const part of Map.groupBy(history.sets, ({ input }) => input.set).values())
      expect(judge<readonly string[], SetKeyed, SetOutput>(SET, part)).toEqual({ kind: "linearizable" });
    expect(history.known).toBeGreaterThan(ROUNDS * 100);
    process.stdout.write(
      `  ${ROUNDS} faults: ${history.known} operations answered, ${history.unknown} unknown, ${history.failed} failed\n`,
    );
  });
});
