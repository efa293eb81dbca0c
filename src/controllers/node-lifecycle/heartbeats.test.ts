import { describe, expect, it } from "vitest";
import { seededRandom, VirtualClock } from "#base";
import { Heartbeats } from "./heartbeats.ts";

const GRACE_MS = 50_000;
const lease = (name: string) => ({ metadata: { name }, spec: {} });

describe("heartbeats", () => {
  it("name those who fall silent, once, in the order in which they were last heard", async () => {
    const clock = new VirtualClock();
    const heartbeats = new Heartbeats(clock);
    const hear = (name: string) => heartbeats.ofLease({ type: "added", object: lease(name) }, true);
    expect(heartbeats.nextSilenceMs(GRACE_MS)).toBe(GRACE_MS);
    hear("a");
    await clock.advance(10_000);
    hear("b");
    await clock.advance(10_000);
    hear("a");
    expect(heartbeats.nextSilenceMs(GRACE_MS)).toBe(40_000);
    await clock.advance(40_000);
    expect(heartbeats.fallenSilent(GRACE_MS)).toEqual(["b"]);
    expect(heartbeats.silentMs("b")).toBe(GRACE_MS);
    expect(heartbeats.nextSilenceMs(GRACE_MS)).toBe(10_000);
    await clock.advance(10_000);
    expect(heartbeats.fallenSilent(GRACE_MS)).toEqual(["a"]);
    hear("b");
    expect(heartbeats.silentMs("b")).toBe(0);
    await clock.advance(GRACE_MS);
    expect(heartbeats.fallenSilent(GRACE_MS)).toEqual(["b"]);
  });

  it("have no time left exactly when they are silent, whatever fractions of milliseconds add up to", async () => {
    const random = seededRandom(3);
    for (let i = 0; i < 300; i++) {
      const clock = new VirtualClock();
      const heartbeats = new Heartbeats(clock);
      await clock.advance(random.next() * 1_000);
      heartbeats.ofLease({ type: "added", object: lease("a") }, true);
      await clock.advance(heartbeats.nextSilenceMs(GRACE_MS));
      const isSilent = heartbeats.fallenSilent(GRACE_MS).length === 1;
      expect(isSilent || heartbeats.nextSilenceMs(GRACE_MS) > 0).toBe(true);
    }
  });

  it("forget who is gone", () => {
    const heartbeats = new Heartbeats(new VirtualClock());
    heartbeats.ofLease({ type: "added", object: lease("a") }, true);
    heartbeats.ofLease({ type: "deleted", object: lease("a"), old: lease("a") }, false);
    expect(heartbeats.silentMs("a")).toBeUndefined();
    expect(heartbeats.fallenSilent(0)).toEqual([]);
  });
});
