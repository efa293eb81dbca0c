import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap, type HeapEntry } from "./heap.ts";

describe("Heap", () => {
  it("agrees with a sorted list under any pushes, pops and removals (property)", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("push" as const), value: fc.integer() }),
      fc.record({ do: fc.constant("pop" as const) }),
      fc.record({ do: fc.constant("remove" as const), which: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new Heap<number>((a, b) => a < b);
        const entries: HeapEntry<number>[] = [];
        let model: number[] = [];
        for (const next of steps) {
          if (next.do === "push") {
            entries.push(heap.push(next.value));
            model = [...model, next.value].sort((a, b) => a - b);
          } else if (next.do === "pop") {
            expect(heap.pop()).toBe(model.shift());
          } else {
            const entry = entries[next.which % Math.max(1, entries.length)];
            if (entry !== undefined && heap.remove(entry)) model.splice(model.indexOf(entry.value), 1);
          }
          expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
        }
        expect([...heap].sort((a, b) => a - b)).toEqual(model);
      }),
    );
  });

  it("knows an entry that has left", () => {
    const heap = new Heap<number>((a, b) => a < b);
    const first = heap.push(1);
    const second = heap.push(2);
    expect(heap.remove(first)).toBe(true);
    expect(heap.remove(first)).toBe(false);
    heap.clear();
    expect(heap.remove(second)).toBe(false);
    expect(heap.pop()).toBeUndefined();
  });
});
