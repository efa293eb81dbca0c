import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
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

  it("forget who is gone", () => {
    const heartbeats = new Heartbeats(new VirtualClock());
    heartbeats.ofLease({ type: "added", object: lease("a") }, true);
    heartbeats.ofLease({ type: "deleted", object: lease("a"), old: lease("a") }, false);
    expect(heartbeats.silentMs("a")).toBeUndefined();
    expect(heartbeats.fallenSilent(0)).toEqual([]);
  });
});
