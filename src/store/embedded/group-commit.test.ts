import { describe, expect, it } from "vitest";
import { StoreError } from "../model/errors.ts";
import type { Entry } from "../model/store.ts";
import { type CommitTarget, GroupCommit } from "./group-commit.ts";
import type { LogRecord } from "./records.ts";

/** Commits end when the test says so. */
class HeldCommits implements CommitTarget {
  readonly batches: (readonly LogRecord[])[] = [];
  readonly entries = new Map<string, Entry>();
  #end: ((failure?: Error) => void) | undefined;

  index(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  entry(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  commit(added: readonly LogRecord[]): Promise<void> {
    this.batches.push(added);
    return new Promise((resolve, reject) => {
      this.#end = (failure) => {
        this.#end = undefined;
        if (failure === undefined) resolve();
        else reject(failure);
      };
    });
  }

  show(added: readonly LogRecord[]): void {
    for (const { key, value, createRevision, revision } of added) {
      if (value === undefined) this.entries.delete(key);
      else this.entries.set(key, { key, value, createRevision, revision });
    }
  }

  /** Waits until a commit is under way, and ends it. */
  async end(failure?: Error): Promise<void> {
    await expect.poll(() => this.#end !== undefined, { interval: 1 }).toBe(true);
    this.#end?.(failure);
  }
}

function setUp() {
  const target = new HeldCommits();
  const told: number[] = [];
  const commits = new GroupCommit(target, 0, (records: readonly LogRecord[]) => {
    told.push(...records.map(({ revision }) => revision));
  });
  const create = (key: string, bytes = 1) => commits.write({ key, value: Buffer.alloc(bytes), expected: undefined });
  return { target, told, commits, create };
}

const revisionsOf = (added: readonly LogRecord[]): readonly number[] => added.map(({ revision }) => revision);

describe("group commit", () => {
  it("commits what arrived together at once, and what came during a commit with the next", async () => {
    const { target, told, commits, create } = setUp();
    const first = [create("/a"), create("/b"), create("/a")];
    await expect.poll(() => target.batches.length).toBe(1);
    const second = [create("/c"), create("/b")];
    expect([commits.head, told]).toEqual([0, []]);
    await target.end();
    expect((await Promise.all(first)).map(({ ok }) => ok)).toEqual([true, true, false]);
    expect([commits.head, told]).toEqual([2, [1, 2]]);
    await target.end();
    expect((await Promise.all(second)).map(({ ok }) => ok)).toEqual([true, false]);
    expect(target.batches.map(revisionsOf)).toEqual([[1, 2], [3]]);
  });

  it("answers nobody, not even the refused, before the batch is durable", async () => {
    const { target, create } = setUp();
    let answered = 0;
    const writes = [create("/a"), create("/a")].map((write) => write.finally(() => answered++));
    await expect.poll(() => target.batches.length).toBe(1);
    expect(answered).toBe(0);
    await target.end();
    await Promise.all(writes);
    expect(answered).toBe(2);
  });

  it("needs no commit for refusals alone", async () => {
    const { target, create } = setUp();
    target.entries.set("/a", { key: "/a", value: Buffer.from("x"), createRevision: 1, revision: 1 });
    expect((await create("/a")).ok).toBe(false);
    expect(target.batches).toEqual([]);
  });

  it("rejects a batch that found no space as a whole, and goes on from the durable state", async () => {
    const { target, told, commits, create } = setUp();
    const full = new StoreError("Full", "No space.");
    const writes = Promise.allSettled([create("/a"), create("/a")]);
    await target.end(full);
    expect(await writes).toEqual([
      { status: "rejected", reason: full },
      { status: "rejected", reason: full },
    ]);
    expect([commits.head, told]).toEqual([0, []]);
    const again = create("/a");
    await target.end();
    expect(await again).toEqual({ ok: true, revision: 1 });
  });

  it("gives up after any other failure: also what is queued is rejected", async () => {
    const { target, commits, create } = setUp();
    const broken = new StoreError("Unavailable", "The disk fails.");
    const first = Promise.allSettled([create("/a")]);
    await expect.poll(() => target.batches.length).toBe(1);
    const queued = Promise.allSettled([create("/b"), create("/c")]);
    await target.end(broken);
    for (const { status } of [...(await first), ...(await queued)]) expect(status).toBe("rejected");
    await expect(create("/d")).rejects.toBe(broken);
    await commits.close();
    expect(target.batches).toHaveLength(1);
  });

  it("bounds a batch by number and by bytes, and always takes one write", async () => {
    const { target, create } = setUp();
    const mb = 1024 * 1024;
    const writes = [
      ...Array.from({ length: 5000 }, (_, i) => create(`/small/${i}`)),
      ...Array.from({ length: 10 }, (_, i) => create(`/large/${i}`, 0.375 * mb)),
      create("/huge", 3 * mb),
    ];
    const done = Promise.all(writes);
    let ended = false;
    void done.then(() => {
      ended = true;
    });
    while (!ended) await Promise.race([done, target.end()]);
    expect(target.batches.map(({ length }) => length)).toEqual([4096, 904 + 2, 2, 2, 2, 2, 1]);
  });

  it("commits what is queued when it is closed, and takes nothing more", async () => {
    const { target, commits, create } = setUp();
    const write = create("/a");
    const closed = commits.close();
    await expect(create("/b")).rejects.toMatchObject({ code: "Closed" });
    await target.end();
    expect(await write).toEqual({ ok: true, revision: 1 });
    await closed;
  });
});
