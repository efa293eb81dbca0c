/** What the contract suite cannot see from outside: who is woken, how much is read at a time, and late answers. */

import { describe, expect, it } from "vitest";
import { settled } from "#base";
import { compactedError } from "../model/arguments.ts";
import type { Change, WatchBatch } from "../model/store.ts";
import { type LogSlice, LogWatches, MAX_BATCH_CHANGES } from "./log-watch.ts";

/** A log as an array, whose reads are counted and can be held back. */
class ArrayLog {
  readonly changes: Change[] = [];
  readonly watches = new LogWatches({
    head: () => this.changes.length,
    read: (prefix, after, limit) => this.#read(prefix, after, limit),
  });
  compacted = 0;
  reads = 0;
  gate: Promise<void> | undefined;

  write(key: string): void {
    const revision = this.changes.length + 1;
    this.changes.push({ key, revision, entry: undefined, previous: undefined });
    this.watches.changed(key, revision);
  }

  async #read(prefix: string, after: number, limit: number): Promise<LogSlice> {
    this.reads++;
    if (after < this.compacted) throw compactedError(after, this.compacted);
    const through = this.changes.length;
    const found = this.changes.filter((change) => change.revision > after && change.key.startsWith(prefix));
    await this.gate;
    if (found.length <= limit) return { changes: found, through };
    return { changes: found.slice(0, limit), through: found[limit - 1]?.revision ?? through };
  }
}

function reading(log: ArrayLog, prefix: string, after = 0) {
  const abort = new AbortController();
  const watch = log.watches.watch(prefix, { after, signal: abort.signal });
  const batches: WatchBatch[] = [];
  const end = (async () => {
    for await (const batch of watch) batches.push(batch);
  })();
  return { watch, batches, end, abort };
}

describe("LogWatches", () => {
  it("wakes only those whose prefix was written", async () => {
    const log = new ArrayLog();
    const concerned = reading(log, "/a/");
    const others = Array.from({ length: 50 }, (_, i) => reading(log, `/b${i}/`));
    await settled();
    log.write("/a/x");
    log.write("/c");
    log.write("/a");
    await settled();
    expect(log.reads).toBe(1);
    expect(concerned.batches.map((batch) => batch.changes.map((change) => change.key))).toEqual([["/a/x"]]);
    for (const { abort } of [concerned, ...others]) abort.abort();
    await Promise.all([concerned, ...others].map(({ end }) => end));
  });

  it("reads writes of one turn as one batch", async () => {
    const log = new ArrayLog();
    const { batches, abort, end } = reading(log, "/");
    await settled();
    for (const key of ["/a", "/b", "/c"]) log.write(key);
    await settled();
    expect(batches.map((batch) => [batch.changes.length, batch.revision])).toEqual([[3, 3]]);
    abort.abort();
    await end;
  });

  it("limits batches", async () => {
    const log = new ArrayLog();
    for (let i = 0; i < MAX_BATCH_CHANGES * 2 + 1; i++) log.write("/a");
    const { batches, abort, end } = reading(log, "/");
    await settled();
    expect(batches.map((batch) => batch.changes.length)).toEqual([MAX_BATCH_CHANGES, MAX_BATCH_CHANGES, 1]);
    abort.abort();
    await end;
  });

  it("misses nothing that happens while the log is being read", async () => {
    const log = new ArrayLog();
    log.write("/a");
    const hold = Promise.withResolvers<void>();
    log.gate = hold.promise;
    const { watch, batches, abort, end } = reading(log, "/");
    await settled();
    log.write("/b");
    watch.requestProgress();
    log.gate = undefined;
    hold.resolve();
    await settled();
    expect(batches.flatMap((batch) => batch.changes.map((change) => change.key))).toEqual(["/a", "/b"]);
    expect(batches.at(-1)?.revision).toBe(2);

    // Progress that is asked for during a read which finds nothing is reported as well.
    const late = Promise.withResolvers<void>();
    const quiet = reading(log, "/none", 1);
    log.gate = late.promise;
    quiet.watch.requestProgress();
    late.resolve();
    await settled();
    expect(quiet.batches).toEqual([{ changes: [], revision: 2 }]);
    for (const { abort } of [quiet]) abort.abort();
    abort.abort();
    await Promise.all([end, quiet.end]);
  });

  it("does not read again because of what others wrote while it was reading", async () => {
    const log = new ArrayLog();
    log.write("/a");
    const hold = Promise.withResolvers<void>();
    log.gate = hold.promise;
    const { batches, abort, end } = reading(log, "/a");
    await settled();
    for (let i = 0; i < 10; i++) log.write("/b");
    hold.resolve();
    await settled();
    expect([log.reads, batches.length]).toEqual([1, 1]);
    log.write("/a");
    await settled();
    expect([log.reads, batches.at(-1)?.revision]).toEqual([2, 12]);
    abort.abort();
    await end;
  });

  it.each(["abort", "close"] as const)("ends on %s while the log is being read", async (how) => {
    const log = new ArrayLog();
    log.write("/a");
    const hold = Promise.withResolvers<void>();
    log.gate = hold.promise;
    const { batches, abort, end } = reading(log, "/b");
    await settled();
    if (how === "abort") abort.abort();
    else log.watches.close();
    hold.resolve();
    if (how === "abort") await end;
    else await expect(end).rejects.toMatchObject({ code: "Closed" });
    expect(batches).toEqual([]);
  });

  it("fails as Compacted when a slow reader comes back too late", async () => {
    const log = new ArrayLog();
    const abort = new AbortController();
    const iterator = log.watches.watch("/", { after: 0, signal: abort.signal })[Symbol.asyncIterator]();
    log.write("/a");
    expect((await iterator.next()).value?.revision).toBe(1);
    log.write("/a");
    log.write("/a");
    log.compacted = 2;
    await expect(iterator.next()).rejects.toMatchObject({ code: "Compacted", compactRevision: 2 });
    expect((await iterator.next()).done).toBe(true);
  });

  it("survives any compaction when nothing of its own was written meanwhile", async () => {
    const log = new ArrayLog();
    const abort = new AbortController();
    const iterator = log.watches.watch("/a", { after: 0, signal: abort.signal })[Symbol.asyncIterator]();
    log.write("/a");
    await iterator.next();
    for (let i = 0; i < 10; i++) log.write("/b");
    log.compacted = 11;
    log.write("/a");
    expect((await iterator.next()).value?.changes).toMatchObject([{ key: "/a", revision: 12 }]);
    abort.abort();
  });
});
