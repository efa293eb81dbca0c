import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { silentLogger } from "#base";
import { kubelets, podWith, seconds } from "../testing/scenarios.ts";
import { SHUTDOWN_REJECTION, shutDownPods, shutdownGroups, shutdownPeriods } from "./shutdown.ts";

const named = (name: string, priority?: number) => ({
  pod: { metadata: { name }, spec: { containers: [], ...(priority !== undefined && { priority }) } } as core.Pod,
});

describe("the groups of a shutdown", () => {
  const PERIODS = [
    { priority: 1000, seconds: 20 },
    { priority: 0, seconds: 10 },
    { priority: 100_000, seconds: 5 },
  ];
  it.each([
    { name: "none", priority: undefined, group: 0 },
    { name: "below all", priority: -10, group: 0 },
    { name: "between", priority: 999, group: 0 },
    { name: "exactly", priority: 1000, group: 1 },
    { name: "above all", priority: 2_000_000_000, group: 2 },
  ])("a priority: $name", ({ priority, group }) => {
    const groups = shutdownGroups([named("a", priority)], PERIODS);
    expect(groups.map(({ seconds: each }) => each)).toEqual([10, 20, 5]);
    expect(groups.findIndex(({ pods }) => pods.length === 1)).toBe(group);
  });

  it("critical pods come last, within their part of the time", () => {
    const periods = shutdownPeriods(30, 10);
    const groups = shutdownGroups([named("critical", 2_000_001_000), named("web")], periods);
    expect(groups.map(({ seconds: each, pods }) => [each, pods.map(({ pod }) => pod.metadata.name)])).toEqual([
      [20, ["web"]],
      [10, ["critical"]],
    ]);
    expect(shutdownPeriods(0, 0)).toEqual([]);
  });
});

describe("a node that goes down", () => {
  const start = kubelets();

  it("ends its pods in order and reports why", async () => {
    let isShuttingDown = false;
    const test = await start({
      // The one that does not listen is killed when its time is over.
      script: { container: ({ pod }) => (pod === "deaf" ? { onStop: "ignore" } : {}) },
      admit: () => (isShuttingDown ? SHUTDOWN_REJECTION : undefined),
    });
    await test.create(podWith({ terminationGracePeriodSeconds: 60 }, "deaf"));
    await test.create(podWith({ terminationGracePeriodSeconds: 3 }, "web"));
    await test.create(podWith({ priority: 2_000_000_000 }, "critical"));
    await test.clock.advance(seconds(1));
    isShuttingDown = true;
    const running = new AbortController();
    const done = shutDownPods(
      {
        workers: test.pods().workers,
        periods: shutdownPeriods(30, 10),
        clock: test.clock,
        log: silentLogger,
      },
      running.signal,
    );
    await test.clock.advance(seconds(5));
    const stops = () => test.runtime.calls.filter((call) => call.startsWith("stopContainer"));
    expect(stops()).toEqual(["stopContainer deaf/app grace 20", "stopContainer web/app grace 3"]);
    expect((await test.get("web")).status).toMatchObject({
      phase: "Failed",
      reason: "Terminated",
      message: "Pod was terminated in response to imminent node shutdown.",
    });
    expect((await test.get("critical")).status?.phase).toBe("Running");
    await test.clock.advance(seconds(16));
    await done;
    await test.clock.advance(seconds(1));
    expect(stops()).toContain("stopContainer critical/app grace 10");
    for (const name of ["deaf", "critical"]) {
      const { status } = await test.get(name);
      expect(status).toMatchObject({ phase: "Failed", reason: "Terminated" });
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" }),
      );
    }
    await test.create(podWith({}, "late"));
    await test.clock.advance(seconds(1));
    expect((await test.get("late")).status).toMatchObject({ phase: "Failed", reason: "NodeShutdown" });
  });
});
