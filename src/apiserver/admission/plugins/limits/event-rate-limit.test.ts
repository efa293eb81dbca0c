import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { admit } from "../../testing/index.ts";
import { eventRateLimit } from "./event-rate-limit.ts";

const event = (name: string) => ({ metadata: { name: "e" }, involvedObject: { kind: "Pod", name } });
const limit = (type: string, more: object = {}) => ({ type, qps: 1, burst: 2, ...more });

describe("EventRateLimit", () => {
  it("lets a burst pass, then as many as come in a second", async () => {
    const clock = new VirtualClock();
    const plugin = eventRateLimit({ limits: [limit("Namespace")] });
    const send = async (namespace: string) =>
      (await admit(plugin, { resource: "events", object: event("p"), namespace, clock })).error?.message ?? "";
    const full = "Too many requests: limit reached on type Namespace for key a";
    expect([await send("a"), await send("a"), await send("a"), await send("b")]).toEqual(["", "", full, ""]);
    await clock.advance(1_000);
    expect([await send("a"), await send("a")]).toEqual(["", full]);
  });

  it("tells of all limits that are reached", async () => {
    const clock = new VirtualClock();
    const plugin = eventRateLimit({ limits: [limit("Server", { burst: 1 }), limit("User", { burst: 1 })] });
    await admit(plugin, { resource: "events", object: event("p"), clock });
    const { error } = await admit(plugin, { resource: "events", object: event("q"), clock });
    expect(error).toMatchObject({
      code: 429,
      message: "Too many requests: [limit reached on type Server for key , limit reached on type User for key admin]",
    });
  });

  it("counts each source and object for itself, and forgets the oldest", async () => {
    const clock = new VirtualClock();
    const plugin = eventRateLimit({ limits: [limit("SourceAndObject", { burst: 1, cacheSize: 1 })] });
    const send = async (name: string) => (await admit(plugin, { resource: "events", object: event(name), clock })).why;
    expect([await send("p"), await send("q"), await send("p")]).toEqual(["", "", ""]);
    expect(await send("p")).toContain("limit reached on type SourceAndObject");
  });

  it("does not count dry runs", async () => {
    const plugin = eventRateLimit({ limits: [limit("Server", { burst: 1 })] });
    const attempt = { resource: "events", object: event("p"), dryRun: true, clock: new VirtualClock() };
    for (let i = 0; i < 3; i++) expect((await admit(plugin, attempt)).why).toBe("");
  });

  const wrong = [
    [undefined, "at least one of `limits`"],
    [{ limits: [{ type: "Other", qps: 1, burst: 1 }] }, "limits[0].type has to be one of Server"],
    [{ limits: [{ type: "User", qps: 0, burst: 1 }] }, "limits[0].qps"],
    [{ limits: [{ type: "User", qps: 1 }] }, "limits[0].burst"],
  ] as const;
  it.each(wrong)("refuses the configuration %j", (section, says) => {
    expect(() => eventRateLimit(section as Parameters<typeof eventRateLimit>[0])).toThrow(says);
  });
});
