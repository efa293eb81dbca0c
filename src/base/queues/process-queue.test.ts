import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { processQueue } from "./process-queue.ts";
import { WorkQueue } from "./work-queue.ts";

function setUp() {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, random: seededRandom(1), backoff: { initialMs: 10, maxMs: 1_000 } });
  const controller = new AbortController();
  return { clock, queue, controller, signal: controller.signal };
}

const unexpected = (error: unknown): never => {
  throw error;
};

describe("processQueue", () => {
  it("works on at most so many keys at once, never on one key twice, and on all of them (property)", async () => {
    const add = fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e"), atMs: fc.nat(60), workMs: fc.nat(25) });
    await fc.assert(
      fc.asyncProperty(fc.array(add, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (adds, concurrency) => {
        const { clock, queue, signal } = setUp();
        const lastAdd = new Map<string, number>();
        const lastStart = new Map<string, number>();
        const running = new Set<string>();
        const workMs = new Map<string, number>(adds.map((entry) => [entry.key, entry.workMs]));
        for (const { key, atMs } of adds) {
          clock.timer(atMs, () => {
            lastAdd.set(key, clock.monotonic());
            queue.add(key);
          });
        }
        const ended = processQueue(queue, { concurrency, signal, onFailure: unexpected }, async (key) => {
          expect(running).not.toContain(key);
          running.add(key);
          expect(running.size).toBeLessThanOrEqual(concurrency);
          lastStart.set(key, clock.monotonic());
          await clock.sleep(workMs.get(key) ?? 0);
          running.delete(key);
        });
        await clock.runUntilIdle();
        for (const [key, atMs] of lastAdd) expect(lastStart.get(key)).toBeGreaterThanOrEqual(atMs);
        expect([running.size, queue.length]).toEqual([0, 0]);
        queue.close();
        await ended;
      }),
      { numRuns: 60 },
    );
  });

  it("retries with backoff until it works, then forgets", async () => {
    const { clock, queue, signal } = setUp();
    const attempts: number[] = [];
    const errors: unknown[] = [];
    const onFailure = (error: unknown) => {
      errors.push(error);
      return "retry" as const;
    };
    const ended = processQueue(queue, { concurrency: 2, signal, onFailure }, async () => {
      attempts.push(clock.monotonic());
      if (attempts.length < 4) throw `failure ${attempts.length}`;
    });
    queue.add("a");
    await clock.runUntilIdle();
    expect(attempts).toEqual([0, 10, 30, 70]);
    expect(errors).toEqual(["failure 1", "failure 2", "failure 3"]);
    expect(queue.retries("a")).toBe(0);
    queue.close();
    await ended;
  });

  it("drops a key when told so", async () => {
    const { clock, queue, signal } = setUp();
    let attempts = 0;
    const ended = processQueue(queue, { concurrency: 1, signal, onFailure: () => "drop" }, async () => {
      attempts++;
      throw new Error("hopeless");
    });
    queue.add("a");
    await clock.runUntilIdle();
    expect([attempts, queue.retries("a")]).toEqual([1, 0]);
    queue.close();
    await ended;
  });

  it("ends with its signal, after the work under way, which is no failure", async () => {
    const { clock, queue, controller, signal } = setUp();
    const seen: string[] = [];
    const ended = processQueue(queue, { concurrency: 2, signal, onFailure: unexpected }, async (key, workSignal) => {
      try {
        await clock.sleep(1_000, workSignal);
      } finally {
        await Promise.resolve();
        seen.push(`${key} ended`);
      }
    });
    queue.add("a");
    await clock.advance(1);
    controller.abort();
    await ended;
    expect(seen).toEqual(["a ended"]);
    queue.add("a");
    expect(queue.length).toBe(1);
    await processQueue(queue, { concurrency: 1, signal, onFailure: unexpected }, async () => {});
    expect(queue.length).toBe(1);
  });

  it("fails when onFailure does, after the other workers have ended", async () => {
    const { queue, signal } = setUp();
    const ended = processQueue(queue, { concurrency: 3, signal, onFailure: unexpected }, async () => {
      throw new Error("no one knows what to do");
    });
    queue.add("a");
    await expect(ended).rejects.toThrow("no one knows what to do");
  });

  it("lets the event loop turn while there is always something to do", async () => {
    const { queue, signal } = setUp();
    let runs = 0;
    const ended = processQueue(queue, { concurrency: 2, signal, onFailure: unexpected }, async (key) => {
      if (++runs < 1_000_000) queue.add(key);
    });
    queue.add("a");
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    queue.close();
    await ended;
    expect(runs).toBeLessThan(1_000_000);
  });

  it("refuses to start without workers", async () => {
    const { queue, signal } = setUp();
    await expect(
      processQueue(queue, { concurrency: 0, signal, onFailure: unexpected }, async () => {}),
    ).rejects.toThrow(RangeError);
  });
});
