import { describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { LISTEN_MS, RemoteScheduler } from "./remote-scheduler.ts";

const never = new AbortController().signal;
const ATTEMPTS = [{ attempt: 1 }];

function start() {
  const clock = new VirtualClock();
  return { clock, distant: new RemoteScheduler(clock) };
}

describe("a scheduler in another process", () => {
  it("hears at once what is asked, and its answer reaches who asked", async () => {
    const { distant } = start();
    const listening = distant.listen(never);
    const asked = distant.ask("a");
    expect(await listening).toEqual(["a"]);
    distant.answer("a", ATTEMPTS);
    expect(await asked).toEqual(ATTEMPTS);
  });

  it("hears when it comes what was asked while it was away for a moment", async () => {
    const { clock, distant } = start();
    const first = distant.listen(never);
    await clock.advance(LISTEN_MS);
    expect(await first).toEqual([]);
    const [asked, again] = [distant.ask("a"), distant.ask("a")];
    expect(await distant.listen(never)).toEqual(["a"]);
    distant.answer("a", ATTEMPTS);
    expect([await asked, await again]).toEqual([ATTEMPTS, ATTEMPTS]);
  });

  it.each([
    ["has never been there", async () => {}],
    [
      "has been away for long",
      async ({ clock, distant }: ReturnType<typeof start>) => {
        const listening = distant.listen(never);
        await clock.advance(LISTEN_MS);
        await listening;
        await clock.advance(LISTEN_MS);
      },
    ],
    ["is gone for good", async ({ distant }: ReturnType<typeof start>) => distant.close()],
  ])("is not waited for if it %s", async (_, before) => {
    const one = start();
    await before(one);
    expect(await one.distant.ask("a")).toEqual([]);
  });

  it("is not waited for for long if it does not answer", async () => {
    const { clock, distant } = start();
    const listening = distant.listen(never);
    const asked = distant.ask("a");
    await listening;
    await clock.advance(2_000);
    expect(await asked).toEqual([]);
    distant.answer("a", ATTEMPTS);
  });

  it("makes room for the one that comes after it, and goes when its caller does", async () => {
    const { distant } = start();
    const leaving = new AbortController();
    const first = distant.listen(never);
    const second = distant.listen(leaving.signal);
    expect(await first).toEqual([]);
    leaving.abort();
    expect(await second).toEqual([]);
  });

  it("and who asks are let go when the server ends", async () => {
    const { distant } = start();
    const listening = distant.listen(never);
    const asked = distant.ask("a");
    distant.close();
    await settled();
    expect(await asked).toEqual([]);
    await listening;
    expect(await distant.listen(never)).toEqual([]);
  });
});
