import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { putInOrder } from "./import.ts";

/** Takes what arrives at the same time in an order of its own. */
class Shuffling {
  readonly last = new Map<number, number>();
  puts = 0;
  readonly #swaps: (count: number) => readonly number[];
  #revision = 0;
  #waiting: { readonly item: number; readonly answer: (revision: number) => void }[] = [];

  constructor(swaps: (count: number) => readonly number[]) {
    this.#swaps = swaps;
  }

  put = (item: number): Promise<number> => {
    this.puts++;
    if (this.#waiting.length === 0) setImmediate(() => this.#take());
    return new Promise((answer) => this.#waiting.push({ item, answer }));
  };

  #take(): void {
    const waiting = this.#waiting.splice(0);
    for (const place of this.#swaps(waiting.length)) {
      const found = waiting[place];
      if (found === undefined) continue;
      this.last.set(found.item, ++this.#revision);
      found.answer(this.#revision);
    }
  }
}

const inOrder = (count: number) => Array.from({ length: count }, (_, i) => i);
const items = inOrder(1_000);

describe("putInOrder", () => {
  it.each<{ name: string; swaps: (count: number) => readonly number[]; most: number }>([
    { name: "all in order", swaps: inOrder, most: 1_000 },
    { name: "the last one first, as Go does", swaps: (count) => [count - 1, ...inOrder(count - 1)], most: 1_100 },
    { name: "backwards", swaps: (count) => inOrder(count).toReversed(), most: 2_500 },
    {
      name: "at random",
      swaps: (() => {
        const random = seededRandom(3);
        return (count) =>
          inOrder(count)
            .map((place) => [random.next(), place] as const)
            .sort(([a], [b]) => a - b)
            .map(([, place]) => place);
      })(),
      most: 3_500,
    },
  ])("keeps the order where etcd takes them $name", async ({ swaps, most }) => {
    const etcd = new Shuffling(swaps);
    const progress: number[] = [];
    await putInOrder(items, etcd.put, (written) => progress.push(written));
    const byRevision = [...etcd.last].sort(([, a], [, b]) => a - b).map(([item]) => item);
    expect(byRevision).toEqual(items);
    expect(etcd.puts).toBeLessThanOrEqual(most);
    expect(progress).toEqual(items.map((item) => item + 1));
  });

  it("works without progress, and with nothing", async () => {
    const etcd = new Shuffling(inOrder);
    await putInOrder(items.slice(0, 3), etcd.put);
    await putInOrder([], etcd.put);
    expect([...etcd.last.keys()]).toEqual([0, 1, 2]);
  });
});
