import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { MachineUsage } from "../host/index.ts";
import type { Pressure } from "../node/index.ts";
import { type PodUse, pressureProblem, rankForEviction } from "./eviction.ts";
import { NO_PRESSURE, observePressure, type ThresholdConfig, thresholdsOf } from "./thresholds.ts";

const pod = (spec: Partial<core.PodSpec> = {}, name = "web"): core.Pod => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "app" }], ...spec },
});
const asking = (requests: Record<string, string>, name?: string) =>
  pod({ containers: [{ name: "app", resources: { requests } }] }, name);

describe("eviction", () => {
  const usage: MachineUsage = {
    memoryAvailableBytes: 50 * 1024 ** 2,
    memoryBytes: 1024 ** 3,
    diskAvailableBytes: 5,
    diskBytes: 100,
    inodesFree: 0,
    inodes: 0,
    processes: 10,
    maxProcesses: 100,
  };
  const seen = (config: ThresholdConfig, at: Partial<MachineUsage> = {}, before = NO_PRESSURE, nowMs = 0) =>
    observePressure({ ...usage, ...at }, thresholdsOf(config), before, { nowMs, transitionMs: 300_000 });

  it.each<[Record<string, string>, string[]]>([
    [{ "memory.available": "100Mi" }, ["MemoryPressure"]],
    [{ "memory.available": "10Mi" }, []],
    [{ "nodefs.available": "10%" }, ["DiskPressure"]],
    [{ "nodefs.available": "100%" }, []],
    [{ "nodefs.inodesFree": "5%" }, []],
    [{ "imagefs.available": "10%" }, ["DiskPressure"]],
    [{ "pid.available": "95%" }, ["PIDPressure"]],
  ])("%j: %j", (hard, want) => expect(seen({ hard }).due.map(({ pressure }) => pressure)).toEqual(want));

  it("images may have a file system of their own", () => {
    const images = { diskAvailableBytes: 50, diskBytes: 100, inodesFree: 1, inodes: 100 };
    expect(seen({ hard: { "imagefs.available": "10%" } }, { images }).due).toEqual([]);
    expect(seen({ hard: { "imagefs.inodesFree": "5%" } }, { images }).due).toMatchObject([{ resource: "inodes" }]);
  });

  it("a soft threshold waits for its grace period, and ends with the shortage", () => {
    const config = { hard: {}, soft: { "memory.available": "100Mi" }, softGraceMs: { "memory.available": 30_000 } };
    const first = seen(config);
    expect([first.due, first.pressures.size]).toEqual([[], 0]);
    const early = seen(config, {}, first.state, 20_000);
    expect(early.due).toEqual([]);
    const late = seen(config, {}, early.state, 30_000);
    expect(late.due).toMatchObject([{ signal: "memory.available", isHard: false }]);
    expect([...late.pressures]).toEqual(["MemoryPressure"]);
    const relaxed = seen(config, { memoryAvailableBytes: 200 * 1024 ** 2 }, early.state, 25_000);
    expect(seen(config, {}, relaxed.state, 40_000).due).toEqual([]);
  });

  it("a pressure is reported until it has been away for its period", () => {
    const config = { hard: { "memory.available": "100Mi" } };
    const free = { memoryAvailableBytes: 200 * 1024 ** 2 };
    const { state } = seen(config);
    expect(seen(config, free, state, 300_000)).toMatchObject({ due: [], pressures: new Set(["MemoryPressure"]) });
    expect(seen(config, free, state, 300_001).pressures.size).toBe(0);
  });

  it("more than the threshold is reclaimed where that is asked for", () => {
    const config = { hard: { "memory.available": "100Mi" }, minimumReclaim: { "memory.available": "50Mi" } };
    const at = (mi: number) => ({ memoryAvailableBytes: mi * 1024 ** 2 });
    expect(seen(config, at(120)).due).toEqual([]);
    const { state } = seen(config, at(90));
    expect(seen(config, at(120), state, 1).due).toHaveLength(1);
    expect(seen(config, at(151), state, 1).due).toEqual([]);
  });

  it.each<[ThresholdConfig, string]>([
    [{ hard: { unknown: "1" } }, "unsupported eviction signal: unknown"],
    [{ hard: { "memory.available": "101%" } }, "eviction percentage threshold memory.available must be <= 100%: 101%"],
    [{ hard: { "memory.available": "0" } }, "eviction threshold memory.available must be positive: 0"],
    [
      { hard: {}, soft: { "memory.available": "1Gi" } },
      "grace period must be specified for the soft eviction threshold memory.available",
    ],
    [{ hard: {}, minimumReclaim: { x: "1" } }, "unsupported eviction signal: x"],
  ])("%j is refused", (config, problem) => expect(() => thresholdsOf(config)).toThrow(problem));

  it("Pods above their request go first, then those of lower priority, then those furthest above", () => {
    const use = (name: string, used: number, requested: string, priority = 0): PodUse => {
      const asked = asking({ memory: requested }, name);
      return { pod: { ...asked, spec: { ...asked.spec, containers: asked.spec?.containers ?? [], priority } }, used };
    };
    const ranked = rankForEviction(
      [
        use("within", 10, "20"),
        use("above", 30, "20"),
        use("far above", 90, "20"),
        use("above, important", 90, "20", 100),
        use("critical", 90, "0", 2_000_000_000),
      ],
      "memory",
    );
    expect(ranked.map(({ pod: { metadata } }) => metadata.name)).toEqual([
      "far above",
      "above",
      "above, important",
      "within",
    ]);
  });

  it.each<[string, core.Pod, Pressure[], boolean, boolean]>([
    ["no pressure", pod(), [], true, false],
    ["memory, BestEffort", pod(), ["MemoryPressure"], true, true],
    ["memory, others", pod(), ["MemoryPressure"], false, false],
    ["disk", pod(), ["DiskPressure"], false, true],
    ["disk, critical", pod({ priority: 2_000_000_000 }), ["DiskPressure"], false, false],
  ])("a new pod: %s", (_, asked, pressures, bestEffort, refused) =>
    expect(pressureProblem(asked, new Set(pressures), bestEffort) !== undefined).toBe(refused),
  );
});
