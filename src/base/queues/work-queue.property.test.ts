import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { WorkQueue } from "./work-queue.ts";

const key = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), key }),
  fc.record({ do: fc.constant("addAfter" as const), key, ms: fc.nat(20) }),
  fc.record({ do: fc.constant("take" as const) }),
  fc.record({ do: fc.constant("done" as const), which: fc.nat() }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.nat(15) }),
);

/** The queue as one would explain it: lists and sets, no heaps. */
class Model {
  waiting: string[] = [];
  readonly running = new Set<string>();
  readonly dirty = new Set<string>();
  readonly due = new Map<string, { atMs: number; order: number }>();
  nowMs = 0;
  order = 0;

  add(key: string): void {
    if (this.running.has(key)) this.dirty.add(key);
    else if (!this.waiting.includes(key)) this.waiting.push(key);
  }

  addAfter(key: string, ms: number): void {
    if (ms === 0) {
      this.add(key);
      return;
    }
    const atMs = this.nowMs + ms;
    const before = this.due.get(key);
    if (before === undefined || atMs < before.atMs) this.due.set(key, { atMs, order: this.order++ });
  }

  take(): string | undefined {
    const key = this.waiting.shift();
    if (key !== undefined) this.running.add(key);
    return key;
  }

  done(key: string): void {
    this.running.delete(key);
    if (this.dirty.delete(key)) this.add(key);
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const ripe = [...this.due].filter(([, { atMs }]) => atMs <= this.nowMs);
    ripe.sort(([, a], [, b]) => a.atMs - b.atMs || a.order - b.order);
    for (const [key] of ripe) {
      this.due.delete(key);
      this.add(key);
    }
  }
}

describe("WorkQueue", () => {
  it("does what its model does: no key twice at once, none lost, in order (property)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const clock = new VirtualClock();
        const queue = new WorkQueue({ clock, random: seededRandom(1) });
        const { signal } = new AbortController();
        const model = new Model();
        const running: string[] = [];
        const take = async () => {
          const want = model.take();
          if (want === undefined) return;
          const got = await queue.take(signal);
          expect(got).toBe(want);
          expect(running).not.toContain(want);
          running.push(want);
        };
        const done = (which: number) => {
          const [key] = running.splice(which % Math.max(1, running.length), 1);
          if (key === undefined) return;
          queue.done(key);
          model.done(key);
        };
        const advance = async (ms: number) => {
          await clock.advance(ms);
          model.advance(ms);
        };

        for (const next of steps) {
          if (next.do === "add") {
            queue.add(next.key);
            model.add(next.key);
          } else if (next.do === "addAfter") {
            queue.addAfter(next.key, next.ms);
            model.addAfter(next.key, next.ms);
          } else if (next.do === "take") await take();
          else if (next.do === "done") done(next.which);
          else await advance(next.ms);
          expect(queue.length).toBe(model.waiting.length);
          expect(clock.pending).toBe(model.due.size > 0 ? 1 : 0);
        }

        // Everything still owed comes out in the end.
        await advance(100);
        while (model.waiting.length > 0 || running.length > 0) {
          await take();
          done(0);
        }
        expect([queue.length, clock.pending]).toEqual([0, 0]);
      }),
      { numRuns: 150 },
    );
  });
});
