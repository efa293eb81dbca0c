import { describe, expect, it } from "vitest";
import { type Cause, readCause, writeCause } from "./cause.ts";

const CAUSE: Cause = {
  id: "host/7",
  actor: "deployment-controller",
  about: "default/web",
  woken: [10, 11],
  read: ["Deployment/web@10", "12 Pods@…11"],
  startedAt: 1_700_000_000_123.5,
  decided: "größer",
  calls: [{ to: "runtime", what: "RunPodSandbox", afterMs: 1, tookMs: 200 }],
};

describe("a cause in a header", () => {
  it("comes back as it was, in ASCII", () => {
    const header = writeCause(CAUSE);
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(readCause(header)).toEqual(CAUSE);
  });

  it("fits, however much there was to say", () => {
    const call = { to: "runtime", what: "x".repeat(200), afterMs: 1, tookMs: 1 };
    const header = writeCause({ ...CAUSE, decided: "y".repeat(9999), calls: Array.from({ length: 99 }, () => call) });
    expect(header.length).toBeLessThanOrEqual(4096);
    expect(readCause(header)).toMatchObject({ id: "host/7", decided: "y".repeat(300) });
    expect(readCause(header)?.calls.length).toBeGreaterThan(5);
    const much = writeCause({ ...CAUSE, read: Array.from({ length: 99 }, () => "z".repeat(200)) });
    expect(much.length).toBeLessThanOrEqual(4096);
    expect(readCause(much)?.read?.length).toBeGreaterThan(5);
  });

  it.each([
    ["nothing", undefined],
    ["no JSON", "host/7 {"],
    ["another value", "host/7 [1]"],
    ["another id", `host/8 ${JSON.stringify(CAUSE)}`],
    ["a part missing", `host/7 ${JSON.stringify({ ...CAUSE, woken: undefined })}`],
    ["words that are none", `host/7 ${JSON.stringify({ ...CAUSE, actor: 7 })}`],
    ["revisions that are none", `host/7 ${JSON.stringify({ ...CAUSE, woken: ["1"] })}`],
    ["reads that are none", `host/7 ${JSON.stringify({ ...CAUSE, read: [7] })}`],
    ["calls that are none", `host/7 ${JSON.stringify({ ...CAUSE, calls: [{ to: "x" }] })}`],
    ["endless words", `host/7 ${JSON.stringify({ ...CAUSE, about: "z".repeat(5000) })}`],
  ])("%s is no cause", (_, header) => {
    expect(readCause(header)).toBeUndefined();
  });
});
