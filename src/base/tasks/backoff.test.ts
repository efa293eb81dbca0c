import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { VirtualClock } from "../system/virtual-clock.ts";
import { Backoff, type BackoffOptions, KeyedBackoff } from "./backoff.ts";

const random = () => seededRandom(1);
const draw = (count: number, next: () => number) => Array.from({ length: count }, next);

describe("Backoff", () => {
  const growth: { name: string; options: BackoffOptions; want: number[] }[] = [
    { name: "doubles by default, up to the cap", options: { initialMs: 10, maxMs: 50 }, want: [10, 20, 40, 50, 50] },
    { name: "grows by its factor", options: { initialMs: 1, maxMs: 100, factor: 3 }, want: [1, 3, 9, 27, 81, 100] },
    { name: "stays constant at factor 1", options: { initialMs: 5, maxMs: 9, factor: 1 }, want: [5, 5, 5] },
    { name: "stays at zero", options: { initialMs: 0, maxMs: 9 }, want: [0, 0, 0] },
  ];
  it.each(growth)("$name", ({ options, want }) => {
    const backoff = new Backoff(options, random());
    expect(draw(want.length, () => backoff.next())).toEqual(want);
    backoff.reset();
    expect(backoff.next()).toBe(want[0]);
  });

  it("stays at the cap however often it fails", () => {
    const backoff = new Backoff({ initialMs: 1, maxMs: 1_000 }, random());
    expect(draw(5_000, () => backoff.next()).at(-1)).toBe(1_000);
  });

  it("jitter shortens by at most its part, also at the cap", () => {
    const backoff = new Backoff({ initialMs: 100, maxMs: 100, jitter: 0.25 }, random());
    const delays = draw(200, () => backoff.next());
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(75);
    expect(Math.max(...delays)).toBeLessThanOrEqual(100);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(15);
  });

  it("starts over after a quiet time, counted from the end of the last delay", async () => {
    const clock = new VirtualClock();
    const backoff = new Backoff({ initialMs: 10, maxMs: 1_000 }, random(), { ms: 100, clock });
    expect(draw(3, () => backoff.next())).toEqual([10, 20, 40]);
    await clock.advance(139);
    expect(backoff.next()).toBe(80);
    await clock.advance(180);
    expect(backoff.next()).toBe(10);
  });

  const impossible: BackoffOptions[] = [
    { initialMs: -1, maxMs: 5 },
    { initialMs: 10, maxMs: 5 },
    { initialMs: 1, maxMs: 5, factor: 0.5 },
    { initialMs: 1, maxMs: 5, jitter: 2 },
    { initialMs: Number.NaN, maxMs: 5 },
  ];
  it.each(impossible)("refuses %j", (options) => {
    expect(() => new Backoff(options, random())).toThrow(RangeError);
    expect(() => new KeyedBackoff(options, random())).toThrow(RangeError);
  });
});

describe("KeyedBackoff", () => {
  it("counts each key for itself, and forgets", () => {
    const backoff = new KeyedBackoff<string>({ initialMs: 1, maxMs: 100 }, random());
    expect(["a", "a", "b", "a"].map((key) => backoff.next(key))).toEqual([1, 2, 1, 4]);
    expect([backoff.failures("a"), backoff.failures("none"), backoff.size]).toEqual([3, 0, 2]);
    backoff.forget("a");
    expect([backoff.next("a"), backoff.next("b")]).toEqual([1, 2]);
  });
});
