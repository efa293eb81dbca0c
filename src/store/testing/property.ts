/**
 * Random sequences of calls, made on a store and on the model alike: every answer must agree, and every watch must have
 * delivered what the model says, or have ended as Compacted where the model allows it.
 */

import * as fc from "fast-check";
import { expect } from "vitest";
import { isStoreError } from "../model/errors.ts";
import type { ListOptions, Revision, Store, WriteOutcome } from "../model/store.ts";
import { Model } from "./model.ts";
import { bytes, failureCode, freshPrefix, shown, shownChange } from "./subject.ts";
import { WatchReader } from "./watch-reader.ts";

/** Which revision a write expects, relative to what is there. */
type Expectation = "current" | "stale" | "zero" | "future";

/** Revisions are named by how far they lie before the newest one. */
export type Step =
  | { readonly do: "create"; readonly key: string; readonly text: string }
  | { readonly do: "update"; readonly key: string; readonly text: string; readonly expected: Expectation }
  | { readonly do: "delete"; readonly key: string; readonly expected: Expectation }
  | { readonly do: "get"; readonly key: string }
  | { readonly do: "count"; readonly prefix: string }
  | {
      readonly do: "list";
      readonly prefix: string;
      readonly back: number | undefined;
      readonly limit: number | undefined;
      readonly after: string | undefined;
    }
  | { readonly do: "watch"; readonly prefix: string; readonly back: number; readonly lazy: boolean }
  | { readonly do: "progress"; readonly watch: number }
  | { readonly do: "abort"; readonly watch: number }
  | { readonly do: "compact"; readonly back: number };

const keys = fc.constantFrom("a", "a\u0000", "a/", "a/b", "a/b/c", "ab", "b", "é", "\uffff", "😀");
const prefixes = fc.constantFrom("", "a", "a/", "a/b", "b", "\uffff", "none");
const texts = fc.constantFrom("", "x", "some text");
const expectations = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Expectation>("current") },
  { weight: 1, arbitrary: fc.constantFrom<Expectation[]>("stale", "zero", "future") },
);
const back = fc.nat({ max: 30 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const which = fc.nat({ max: 9 });
const just = <const T>(value: T): fc.Arbitrary<T> => fc.constant(value);

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    { weight: 6, arbitrary: fc.record({ do: just("create"), key: keys, text: texts }) },
    { weight: 8, arbitrary: fc.record({ do: just("update"), key: keys, text: texts, expected: expectations }) },
    { weight: 4, arbitrary: fc.record({ do: just("delete"), key: keys, expected: expectations }) },
    { weight: 2, arbitrary: fc.record({ do: just("get"), key: keys }) },
    { weight: 1, arbitrary: fc.record({ do: just("count"), prefix: prefixes }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: just("list"),
        prefix: prefixes,
        back: maybe(back),
        limit: maybe(fc.integer({ min: 1, max: 6 })),
        after: maybe(keys),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: just("watch"), prefix: prefixes, back, lazy: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: just("progress"), watch: which }) },
    { weight: 1, arbitrary: fc.record({ do: just("abort"), watch: which }) },
    { weight: 1, arbitrary: fc.record({ do: just("compact"), back }) },
  ),
  { minLength: 1, maxLength: 80 },
);

export async function storeProperty(store: Store, parameters: fc.Parameters<unknown> = {}): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const comparison = new Comparison(store, freshPrefix(), await store.revision());
      try {
        for (const step of sequence) await comparison.take(step);
        await comparison.finish();
      } finally {
        await comparison.stop();
      }
    }),
    { numRuns: 100, ...(parameters as fc.Parameters<[Step[]]>) },
  );
}

interface Watched {
  readonly reader: WatchReader;
  readonly prefix: string;
  readonly after: Revision;
  /** The watch began before the oldest revision that could be read. */
  readonly tooOld: boolean;
  aborted: boolean;
  /** The end of reading in the background; lazy watches are first read when the sequence is over. */
  reading: Promise<Reading> | undefined;
}

type Reading = { readonly end: "over" | "Compacted" } | { readonly end: "failed"; readonly error: unknown };

class Comparison {
  readonly #store: Store;
  readonly #root: string;
  readonly #start: Revision;
  readonly #model: Model;
  readonly #watches: Watched[] = [];
  /** Backends may have to write something of their own to find out a watch's progress. */
  #exact = true;
  /** The newest revision, once the sequence is over. */
  #goal: Revision = Number.POSITIVE_INFINITY;

  constructor(store: Store, root: string, start: Revision) {
    this.#store = store;
    this.#root = root;
    this.#start = start;
    this.#model = new Model(start);
  }

  async take(step: Step): Promise<void> {
    const store = this.#store;
    const model = this.#model;
    switch (step.do) {
      case "create": {
        const key = this.#root + step.key;
        const value = bytes(step.text);
        return this.#compareWrite(key, value, undefined, await store.create(key, value));
      }
      case "update": {
        const key = this.#root + step.key;
        const value = bytes(step.text);
        const expected = this.#expected(key, step.expected);
        return this.#compareWrite(key, value, expected, await store.update(key, value, expected));
      }
      case "delete": {
        const key = this.#root + step.key;
        const expected = this.#expected(key, step.expected);
        return this.#compareWrite(key, undefined, expected, await store.delete(key, expected));
      }
      case "get": {
        const key = this.#root + step.key;
        return expect(shown(await store.get(key))).toEqual(shown(model.get(key)));
      }
      case "count": {
        const prefix = this.#root + step.prefix;
        return expect(await store.count(prefix)).toBe(model.list(prefix, model.head).entries.length);
      }
      case "list":
        return this.#compareList(step);
      case "watch": {
        const after = this.#past(step.back);
        const prefix = this.#root + step.prefix;
        const reader = new WatchReader(store, prefix, after);
        const tooOld = after < model.compacted;
        const watch: Watched = { reader, prefix, after, tooOld, aborted: false, reading: undefined };
        if (!step.lazy) watch.reading = this.#read(watch);
        this.#watches.push(watch);
        return;
      }
      case "progress":
        this.#exact = false;
        return this.#watches[step.watch]?.reader.watch.requestProgress();
      case "abort": {
        const watch = this.#watches[step.watch];
        if (watch === undefined) return;
        watch.aborted = true;
        return watch.reader.abort();
      }
      case "compact": {
        const revision = this.#past(step.back);
        model.compact(revision);
        return store.compact(revision);
      }
    }
  }

  /** Every watch that was not aborted must now come to the newest revision, or have a reason not to. */
  async finish(): Promise<void> {
    this.#sameRevision(await this.#store.revision());
    this.#goal = this.#model.head;
    for (const watch of this.#watches) {
      watch.reader.watch.requestProgress();
      watch.reading ??= this.#read(watch);
      const reading = await watch.reading;
      if (reading.end === "failed") throw reading.error;
      this.#compareChanges(watch);
      if (watch.aborted) continue;
      if (watch.tooOld) expect(reading.end).toBe("Compacted");
      if (reading.end === "Compacted") expect(watch.reader.revision).toBeLessThan(this.#model.compacted);
      else expect(watch.reader.received).toHaveLength(this.#model.watched(watch.prefix, watch.after).length);
    }
  }

  async stop(): Promise<void> {
    for (const { reader } of this.#watches) reader.abort();
    await Promise.all(this.#watches.map(({ reading }) => reading));
  }

  #expected(key: string, expectation: Expectation): Revision {
    const current = this.#model.get(key)?.revision ?? this.#start;
    return { current, stale: Math.max(0, current - 1), zero: 0, future: this.#model.head + 1 }[expectation];
  }

  #past(back: number): Revision {
    return Math.max(this.#start, this.#model.head - back);
  }

  #sameRevision(revision: Revision): void {
    if (this.#exact) expect(revision).toBe(this.#model.head);
    else expect(revision).toBeGreaterThanOrEqual(this.#model.head);
  }

  #compareWrite(key: string, value: Buffer | undefined, expected: Revision | undefined, outcome: WriteOutcome): void {
    const model = this.#model;
    const mayCreate = expected === undefined;
    const allowed = model.allows(key, expected) && (mayCreate || model.get(key) !== undefined);
    expect(outcome.ok).toBe(allowed);
    if (!outcome.ok) {
      expect(shown(outcome.current)).toEqual(shown(model.get(key)));
      return;
    }
    const next = model.head + 1;
    if (this.#exact) expect(outcome.revision).toBe(next);
    else expect(outcome.revision).toBeGreaterThanOrEqual(next);
    model.write(key, value, outcome.revision);
  }

  async #compareList(step: Step & { do: "list" }): Promise<void> {
    const model = this.#model;
    const prefix = this.#root + step.prefix;
    const after = step.after === undefined ? undefined : this.#root + step.after;
    const revision = step.back === undefined ? model.head : this.#past(step.back);
    const options: ListOptions = {
      ...(step.back === undefined ? {} : { revision }),
      ...(step.limit === undefined ? {} : { limit: step.limit }),
      ...(after === undefined ? {} : { after }),
    };
    if (revision < model.compacted) {
      return expect(await failureCode(() => this.#store.list(prefix, options))).toBe("Compacted");
    }
    const page = await this.#store.list(prefix, options);
    const wanted = model.list(prefix, revision, after, step.limit);
    expect(page.entries.map(shown)).toEqual(wanted.entries.map(shown));
    expect(page.more).toBe(wanted.more);
    if (step.back === undefined) this.#sameRevision(page.revision);
    else expect(page.revision).toBe(revision);
  }

  /** What was delivered is what the model holds, in order and without a gap; `previous` may be lost to compaction. */
  #compareChanges(watch: Watched): void {
    const received = watch.reader.received.map(shownChange);
    const wanted = this.#model.watched(watch.prefix, watch.after).slice(0, received.length).map(shownChange);
    const forgotten = (i: number): boolean =>
      received[i]?.previous === undefined && (wanted[i]?.revision ?? 0) <= this.#model.compacted;
    expect(received).toEqual(wanted.map((change, i) => (forgotten(i) ? { ...change, previous: undefined } : change)));
  }

  /** Reads until the watch ends or, once the sequence is over, until it has come to the newest revision. */
  async #read(watch: Watched): Promise<Reading> {
    try {
      for (;;) {
        const batch = await watch.reader.next();
        if (batch === undefined || batch.revision >= this.#goal) return { end: "over" };
      }
    } catch (error) {
      return isStoreError(error, "Compacted") ? { end: "Compacted" } : { end: "failed", error };
    }
  }
}
