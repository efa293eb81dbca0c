import { describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { Deadlines } from "./deadlines.ts";

function start() {
  const clock = new VirtualClock();
  const deadlines = new Deadlines(clock);
  const ends: string[] = [];
  const begin = (name: string, timeoutMs: number) => {
    const work = Promise.withResolvers<string>();
    deadlines
      .limit(work.promise, timeoutMs, () => new Error(`${name} late at ${clock.monotonic()}`))
      .then(
        (value) => ends.push(value),
        (error: Error) => ends.push(error.message),
      );
    return work;
  };
  return { clock, deadlines, ends, begin };
}

describe("deadlines", () => {
  it("end what takes longer, each at its own time, with one timer for each timeout", async () => {
    const { clock, ends, begin } = start();
    begin("a", 100);
    await clock.advance(40);
    const done = begin("b", 100);
    begin("c", 100);
    begin("d", 10);
    expect(clock.pending).toBe(2);
    await clock.advance(10);
    done.resolve("b done");
    await settled();
    await clock.advance(200);
    expect(ends).toEqual(["d late at 50", "b done", "a late at 100", "c late at 140"]);
    expect(clock.pending).toBe(0);
  });

  it("pass on what ends in time, also errors", async () => {
    const { clock, ends, begin } = start();
    begin("a", 100).resolve("fine");
    begin("b", 100).reject(new Error("broken"));
    await settled();
    expect(ends).toEqual(["fine", "broken"]);
    // The timer finds nothing to do, and is not set again.
    await clock.advance(100);
    expect(clock.pending).toBe(0);
  });

  it("drop what comes after the deadline, also errors", async () => {
    const { clock, ends, begin } = start();
    const [late, failed] = [begin("a", 100), begin("b", 100)];
    await clock.advance(100);
    late.resolve("too late");
    failed.reject(new Error("too late"));
    await settled();
    expect(ends).toEqual(["a late at 100", "b late at 100"]);
  });

  it("end with the server", async () => {
    const { clock, deadlines, ends, begin } = start();
    const work = begin("a", 100);
    deadlines.close();
    expect(clock.pending).toBe(0);
    work.resolve("done");
    await settled();
    expect(ends).toEqual(["done"]);
  });
});
