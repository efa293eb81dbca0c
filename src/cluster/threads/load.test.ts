import { expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { Load } from "./load.ts";

it.each([
  { utilizations: [1, 1, 1], want: 3 },
  { utilizations: [1, 1, 0.1, 0.9, 0.8, 0.9], want: 6 },
  { utilizations: [0, 1, 1, 1], want: 4 },
])("is high after three busy seconds in a row: $utilizations", async ({ utilizations, want }) => {
  const clock = new VirtualClock();
  const left = [0, ...utilizations];
  const load = new Load(clock, () => left.shift() ?? 0);
  let high = false;
  void load.isHigh(new AbortController().signal).then(() => {
    high = true;
  });
  for (let second = 1; second <= want; second++) {
    expect(high).toBe(false);
    await clock.advance(1_000);
    await settled();
  }
  expect(high).toBe(true);
});

it("is not waited for when the signal aborts", async () => {
  const ending = new AbortController();
  const waiting = new Load(new VirtualClock(), () => 0).isHigh(ending.signal);
  ending.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
});
