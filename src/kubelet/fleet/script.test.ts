import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { DEFAULTS, readScript } from "./script.ts";

const c = { name: "c", image: "img" };
const job = [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true }];

function scriptOf(annotations: Record<string, string>, more: Partial<core.Pod["metadata"]> = {}) {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`simulated.k8ts.io/${name}`, value]);
  return readScript({ metadata: { name: "p", annotations: Object.fromEntries(prefixed), ...more } }, DEFAULTS);
}

describe("readScript", () => {
  it.each<[annotations: Record<string, string>, container: core.Container, want: object]>([
    [{}, c, { runForMs: Number.POSITIVE_INFINITY, exitCode: 0, readyDelayMs: 0, stopExitCode: 143 }],
    [{}, { ...c, command: ["sh", "-c", "sleep 2; exit 3"] }, { runForMs: 2_000, exitCode: 3 }],
    [{}, { ...c, readinessProbe: { initialDelaySeconds: 5 } }, { readyDelayMs: 5_000 }],
    [{}, { ...c, readinessProbe: { exec: { command: ["/bin/false"] } } }, { readyDelayMs: Number.POSITIVE_INFINITY }],
    [{}, { ...c, startupProbe: { initialDelaySeconds: 2 } }, { startupDelayMs: 2_000 }],
    [{ "run-for": "5s", "exit-code": "1" }, c, { runForMs: 5_000, exitCode: 1 }],
    [{ "run-for": "5s", "run-for.c": "forever" }, c, { runForMs: Number.POSITIVE_INFINITY }],
    [{ "run-for.other": "5s" }, c, { runForMs: Number.POSITIVE_INFINITY }],
    [{ "exit-code": "2" }, c, { runForMs: 0, exitCode: 2 }],
    [{ "exit-reason": "OOMKilled", "exit-code": "137" }, c, { exitReason: "OOMKilled" }],
    [{ "ready-delay": "never" }, c, { readyDelayMs: Number.POSITIVE_INFINITY }],
    [{ "fail-pull": "always" }, c, { failedPulls: Number.POSITIVE_INFINITY }],
    [{ "fail-pull": "3" }, c, { failedPulls: 3 }],
    [{ "stop-delay": "20s", "stop-exit-code": "0" }, c, { stopDelayMs: 20_000, stopExitCode: 0 }],
    [{ "start-delay.c": "1s", "start-delay": "9s" }, c, { startDelayMs: 1_000 }],
    [{}, c, { cpuUsage: undefined, memoryUsage: undefined }],
    [{ "cpu-usage": "250m" }, c, { cpuUsage: [{ fromMs: 0, amount: { milli: 250 } }] }],
    [{ "cpu-usage": "0s=10%" }, c, { cpuUsage: [{ fromMs: 0, amount: { percent: 10 } }] }],
    [
      { "cpu-usage": "0s=50m, 1m=2", "memory-usage.c": "64Mi" },
      c,
      {
        cpuUsage: [
          { fromMs: 0, amount: { milli: 50 } },
          { fromMs: 60_000, amount: { milli: 2_000 } },
        ],
        memoryUsage: [{ fromMs: 0, amount: { milli: 64 * 1024 * 1024 * 1000 } }],
      },
    ],
  ])("%j, %j", (annotations, container, want) => {
    const script = scriptOf(annotations);
    expect(script.container(container, "regular")).toMatchObject(want);
    expect(script.problems).toEqual([]);
  });

  it("lets the containers of Jobs and init containers end by themselves", () => {
    const script = scriptOf({}, { ownerReferences: job });
    expect(script.container(c, "regular")).toMatchObject({ runForMs: 1_000, exitCode: 0 });
    expect(script.container(c, "sidecar")).toMatchObject({ runForMs: Number.POSITIVE_INFINITY });
    expect(scriptOf({}).container(c, "init")).toMatchObject({ runForMs: 100, exitCode: 0 });
  });

  it("reports what it cannot parse and ignores it", () => {
    const script = scriptOf({ "run-for": "soon", "exit-code": "300" });
    expect(script.container(c, "regular")).toMatchObject({ runForMs: Number.POSITIVE_INFINITY, exitCode: 0 });
    expect(script.problems).toEqual([
      'simulated.k8ts.io/exit-code: "300" is not a number from 0 to 255',
      'simulated.k8ts.io/run-for: "soon" is not a duration such as 5s, or forever',
    ]);
  });

  it.each(["much", "2m=1,1m=2", "-1", "soon=1", "%", "-5%"])("reports a usage of %j", (text) => {
    const script = scriptOf({ "cpu-usage": text });
    expect(script.container(c, "regular").cpuUsage).toBeUndefined();
    expect(script.problems).toEqual([
      `simulated.k8ts.io/cpu-usage: ${JSON.stringify(text)} is not a quantity, a part of the request such as 80%, or steps such as 0s=50m,1m=400m`,
    ]);
  });
});
