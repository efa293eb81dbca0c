import { describe, expect, it } from "vitest";
import { allKnown, andThen, attempt, isPending, lastly, type Maybe, settle } from "./maybe.ts";

const boom = new Error("boom");

/** What a function does with a value that is there, one that comes later, an error, and a rejection. */
const runs: { name: string; pending: boolean; run: () => Maybe<number> }[] = [
  { name: "a value", pending: false, run: () => 1 },
  { name: "a promise", pending: true, run: async () => 1 },
];
const failures: { name: string; pending: boolean; run: () => Maybe<number> }[] = [
  {
    name: "an error",
    pending: false,
    run: () => {
      throw boom;
    },
  },
  { name: "a rejection", pending: true, run: () => Promise.reject(boom) },
];

/** The outcome, and whether it had to be waited for. */
async function outcome(run: () => Maybe<unknown>): Promise<{ pending: boolean; value?: unknown; error?: unknown }> {
  let value: Maybe<unknown>;
  try {
    value = run();
  } catch (error) {
    return { pending: false, error };
  }
  if (!isPending(value)) return { pending: false, value };
  return value.then(
    (late) => ({ pending: true, value: late }),
    (error: unknown) => ({ pending: true, error }),
  );
}

describe.each(runs)("$name", ({ pending, run }) => {
  it("goes to the next function", async () => {
    expect(await outcome(() => andThen(run(), (value) => value + 1))).toEqual({ pending, value: 2 });
  });

  it("settles as done", async () => {
    const settled = () =>
      settle(
        run,
        (value) => `done ${value}`,
        () => "failed",
      );
    expect(await outcome(settled)).toEqual({ pending, value: "done 1" });
  });

  it("an error of what is done with it does not count as its own", async () => {
    const settled = () =>
      settle(
        run,
        () => {
          throw boom;
        },
        () => "failed",
      );
    expect(await outcome(settled)).toEqual({ pending, error: boom });
  });

  it("is what an attempt returns", async () => {
    expect(await outcome(() => attempt(run, () => 2))).toEqual({ pending, value: 1 });
  });

  it("ends before anybody sees it", async () => {
    const seen: string[] = [];
    const ended = () =>
      andThen(
        lastly(run, () => seen.push("end")),
        (value) => seen.push(String(value)),
      );
    await ended();
    expect(seen).toEqual(["end", "1"]);
  });
});

describe.each(failures)("$name", ({ pending, run }) => {
  it("passes the next function by", async () => {
    expect(await outcome(() => andThen(run(), () => 2))).toEqual({ pending, error: boom });
  });

  it("settles as failed", async () => {
    const settled = () =>
      settle(
        run,
        () => "done",
        (error) => error,
      );
    expect(await outcome(settled)).toEqual({ pending, value: boom });
  });

  it("is caught by an attempt", async () => {
    expect(await outcome(() => attempt(run, () => 2))).toEqual({ pending, value: 2 });
  });

  it("ends, and goes on", async () => {
    let ended = false;
    const end = () => {
      ended = true;
    };
    expect(await outcome(() => lastly(run, end))).toEqual({ pending, error: boom });
    expect(ended).toBe(true);
  });
});

it.each<{ name: string; values: Maybe<number>[]; pending: boolean }>([
  { name: "none", values: [], pending: false },
  { name: "known", values: [1, 2], pending: false },
  { name: "one late", values: [1, Promise.resolve(2)], pending: true },
])("all of several: $name", async ({ values, pending }) => {
  const all = allKnown(values);
  expect([isPending(all), await all]).toEqual([pending, await Promise.all(values)]);
});
