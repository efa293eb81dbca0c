import { describe, expect, it } from "vitest";
import type { core } from "#api";
import type { MachineUsage } from "../host/index.ts";
import type { Pressure } from "../node/index.ts";
import { type PodUse, pressureProblem, rankForEviction, shortages } from "./eviction.ts";

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
  it.each<[Record<string, string>, string[]]>([
    [{ "memory.available": "100Mi" }, ["MemoryPressure"]],
    [{ "memory.available": "10Mi" }, []],
    [{ "nodefs.available": "10%" }, ["DiskPressure"]],
    [{ "nodefs.inodesFree": "5%" }, []],
    [{ "pid.available": "95%" }, ["PIDPressure"]],
    [{ unknown: "1" }, []],
  ])("%j: %j", (thresholds, want) =>
    expect(shortages(usage, thresholds).map(({ pressure }) => pressure)).toEqual(want),
  );

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
