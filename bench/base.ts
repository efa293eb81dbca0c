/**
 * The parts of src/base that are written unusually for speed, against their plain forms: processor time, in turn, the
 * median of the rounds. The bound is the plain form.
 */
import { setMaxListeners } from "node:events";
import { childController, Heap, LruMap, MemoMap } from "#base";
import { countBelow } from "../src/base/collections/ordered-map-node.ts";
import type { Figure } from "./run.ts";

const WARM_UP_ROUNDS = 2;
const ROUNDS = 11;

interface Comparison {
  readonly name: string;
  /** How many operations one run does. */
  readonly operations: number;
  readonly plain: () => void;
  readonly ours: () => void;
}

export async function run(report: (figure: Figure) => void): Promise<void> {
  for (const { name, operations, plain, ours } of [mapHits(), heap(), children(), searches()]) {
    const rounds = { plain: [] as number[], ours: [] as number[] };
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      rounds.plain.push(nanoseconds(plain, operations));
      rounds.ours.push(nanoseconds(ours, operations));
    }
    report({ name, value: median(rounds.ours), unit: "ns", bound: median(rounds.plain) });
  }
}

function mapHits(): Comparison {
  const keys = Array.from({ length: 256 }, (_, i) => `application/json;key=${i}`);
  const memo = new MemoMap<string, object>(512);
  const lru = new LruMap<string, object>(512);
  for (const key of keys) for (const map of [memo, lru]) map.set(key, {});
  const operations = 1_000_000;
  const each = (use: (key: string) => unknown) => {
    for (let i = 0; i < operations; i++) use(keys[i % keys.length] ?? "");
  };
  return {
    name: "a hit in MemoMap, against LruMap",
    operations,
    plain: () => each((key) => lru.get(key)),
    ours: () => each((key) => memo.get(key)),
  };
}

interface Ranked {
  readonly rank: number;
  readonly order: number;
}

interface Slot<T> {
  readonly value: T;
  index: number;
}

/** The same heap, which compares the moved entry at each step down, as textbooks have it. */
class TopDownHeap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #slots: Slot<T>[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  push(value: T): void {
    const slot = { value, index: this.#slots.length };
    this.#slots.push(slot);
    for (;;) {
      const parent = this.#slots[(slot.index - 1) >> 1];
      if (slot.index === 0 || parent === undefined || !this.#before(value, parent.value)) return;
      this.#swap(slot, parent);
    }
  }

  pop(): T | undefined {
    const [first] = this.#slots;
    const last = this.#slots.pop();
    if (first === undefined || last === undefined || first === last) return first?.value;
    last.index = 0;
    this.#slots[0] = last;
    for (;;) {
      const left = this.#slots[2 * last.index + 1];
      const right = this.#slots[2 * last.index + 2];
      if (left === undefined) break;
      const child = right !== undefined && this.#before(right.value, left.value) ? right : left;
      if (!this.#before(child.value, last.value)) break;
      this.#swap(last, child);
    }
    return first.value;
  }

  #swap(a: Slot<T>, b: Slot<T>): void {
    [a.index, b.index] = [b.index, a.index];
    this.#slots[a.index] = a;
    this.#slots[b.index] = b;
  }
}

function heap(): Comparison {
  const operations = 20_000;
  const values = Array.from({ length: operations }, (_, i): Ranked => ({ rank: (i * 7919) % operations, order: i }));
  const before = (a: Ranked, b: Ranked) => a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
  const drain = (queue: { push(value: Ranked): unknown; pop(): Ranked | undefined }) => {
    for (const value of values) queue.push(value);
    while (queue.pop() !== undefined);
  };
  return {
    name: "push and pop in Heap, against comparing at each step down",
    operations,
    plain: () => drain(new TopDownHeap(before)),
    ours: () => drain(new Heap(before)),
  };
}

function children(): Comparison {
  const operations = 5_000;
  const parent = new AbortController().signal;
  const others = Array.from({ length: 1_000 }, () => childController(parent));
  const plainParent = new AbortController().signal;
  setMaxListeners(0, plainParent);
  for (const { signal } of others) plainParent.addEventListener("abort", () => signal);
  return {
    name: "a child of a signal with 1,000 others, against a controller and a listener",
    operations,
    plain: () => {
      for (let i = 0; i < operations; i++) {
        const controller = new AbortController();
        const abort = () => controller.abort(plainParent.reason);
        plainParent.addEventListener("abort", abort, { once: true });
        plainParent.removeEventListener("abort", abort);
      }
    },
    ours: () => {
      for (let i = 0; i < operations; i++) childController(parent)[Symbol.dispose]();
    },
  };
}

function searches(): Comparison {
  const width = 48;
  const texts = Array.from({ length: width }, (_, i) => `/registry/pods/default/web-${String(i).padStart(4, "0")}`);
  const numbers = Array.from({ length: width }, (_, i) => i * 3);
  const operations = 400_000;
  const each = (below: (keys: readonly (string | number)[], key: string | number) => number) => {
    for (let i = 0; i < operations / 2; i++) {
      below(texts, texts[i % width] ?? "");
      below(numbers, i % (3 * width));
    }
  };
  return {
    name: "a search in a node of OrderedMap, against one loop for strings and numbers",
    operations,
    plain: () => each(oneLoop),
    ours: () => each(countBelow),
  };
}

function oneLoop(keys: readonly (string | number)[], key: string | number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string | number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nanoseconds(work: () => void, operations: number): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / operations;
}

function median(values: readonly number[]): number {
  return [...values.slice(WARM_UP_ROUNDS)].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
