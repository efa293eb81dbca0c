import { describe, expect, it } from "vitest";
import { type Random, seededRandom } from "#base";
import { StreamTable } from "./stream-table.ts";

/** The same is done to a Map. */
class Twin {
  readonly table = new StreamTable<string>();
  readonly map = new Map<number, string>();
  #lastId = -1;

  add(gap: number): number {
    this.#lastId += 2 * gap;
    const value = `stream ${this.#lastId}`;
    this.table.set(this.#lastId, value);
    this.map.set(this.#lastId, value);
    return this.#lastId;
  }

  delete(id: number): void {
    this.table.delete(id);
    this.map.delete(id);
  }

  ids(): number[] {
    return [...this.map.keys()];
  }

  check(): void {
    expect(this.table.size).toBe(this.map.size);
    expect(this.table.values().sort()).toEqual([...this.map.values()].sort());
    const wrong = Array.from({ length: this.#lastId + 3 }, (_, id) => id + 1).filter(
      (id) => this.table.get(id) !== this.map.get(id),
    );
    expect(wrong).toEqual([]);
  }
}

interface Life {
  readonly name: string;
  /** How many there are at a time. */
  readonly most: number;
  /** How far numbers are apart at most. */
  readonly gap: number;
  /** Which of those that are there leaves. */
  readonly leaver: (ids: readonly number[], random: Random) => number | undefined;
}

const any = (ids: readonly number[], random: Random) => (ids.length === 0 ? undefined : random.pick(ids));

const lives: readonly Life[] = [
  { name: "in any order", most: 100, gap: 1, leaver: any },
  { name: "in any order, a thousand", most: 1_000, gap: 1, leaver: any },
  { name: "with numbers left out", most: 300, gap: 40, leaver: any },
  { name: "first come, first gone", most: 64, gap: 1, leaver: (ids) => ids[0] },
  { name: "last come, first gone", most: 64, gap: 3, leaver: (ids) => ids.at(-1) },
  {
    name: "with watches between",
    most: 40,
    gap: 2,
    leaver: (ids, random) =>
      any(
        ids.filter((id) => id % 7 !== 0),
        random,
      ),
  },
];

describe("a table of streams", () => {
  it.each(lives)("is as a Map: $name", ({ most, gap, leaver }) => {
    const random = seededRandom(most + gap);
    const twin = new Twin();
    for (let step = 1; step <= 4_000; step++) {
      const ids = twin.ids();
      const full = ids.length >= most;
      // It grows and shrinks in long waves.
      const grows = random.next() < (Math.floor(step / 1_000) % 2 === 0 ? 0.7 : 0.3);
      const leaves = full || !grows ? leaver(ids, random) : undefined;
      if (leaves !== undefined) twin.delete(leaves);
      else if (!full) twin.add(1 + random.integer(gap));
      if (step % 400 === 0) twin.check();
    }
    for (const id of twin.ids()) twin.delete(id);
    twin.check();
    expect(twin.table.size).toBe(0);
  });

  it("is right after every step when numbers meet at the same place, and over its end", () => {
    // Sixteen places: these have theirs in the last one, the first, the last, …
    for (const gone of [31, 63, 33, 95, 65]) {
      const table = new StreamTable<number>();
      const ids = [31, 33, 63, 65, 95];
      for (const id of ids) table.set(id, id);
      table.delete(gone);
      expect(ids.map((id) => table.get(id))).toEqual(ids.map((id) => (id === gone ? undefined : id)));
    }
  });

  it("takes numbers up to the last there is", () => {
    const table = new StreamTable<string>();
    table.set(2 ** 31 - 1, "last");
    table.set(2 ** 31 - 3, "before");
    expect([table.get(2 ** 31 - 1), table.get(2 ** 31 - 3), table.get(1)]).toEqual(["last", "before", undefined]);
    table.delete(2 ** 31 - 1);
    expect([table.get(2 ** 31 - 1), table.size]).toEqual([undefined, 1]);
  });

  it("does not mind who is not there", () => {
    const table = new StreamTable<string>();
    table.delete(1);
    table.set(1, "a");
    table.delete(33);
    expect([table.size, table.get(1), table.get(33)]).toEqual([1, "a", undefined]);
  });
});
