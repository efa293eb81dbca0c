import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { Usage } from "../admission/usage.ts";
import { resize } from "./resize.ts";

const NOW = Date.UTC(2030, 0, 1);

function podOf(cpu: string, more: Partial<core.Container> = {}, uid = "u"): core.Pod {
  const resources = { requests: { cpu } };
  return { metadata: { name: "p", uid, generation: 2 }, spec: { containers: [{ name: "c", resources, ...more }] } };
}

const restarting = { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] };

describe("resize", () => {
  it.each<[what: string, to: core.Pod, want: { given: string; pending?: object; restarts?: string[] }]>([
    ["nothing changes", podOf("1"), { given: "1" }],
    ["there is enough", podOf("2"), { given: "2" }],
    ["its container has to start anew for it", podOf("2", restarting), { given: "2", restarts: ["c"] }],
    [
      "others use it",
      podOf("3500m"),
      {
        given: "1",
        pending: {
          reason: "Deferred",
          message: "Node didn't have enough resource: cpu, requested: 3500, used: 1000, capacity: 4000",
        },
      },
    ],
    [
      "there will never be enough",
      podOf("5"),
      {
        given: "1",
        pending: {
          reason: "Infeasible",
          message: "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000",
        },
      },
    ],
  ])("%s", (_, to, want) => {
    const usage = new Usage();
    usage.set("u", podOf("1"));
    usage.set("other", podOf("1", {}, "other"));
    const { allocated, pending, restarts } = resize(to, podOf("1"), usage, { cpu: "4", pods: "10" }, NOW);
    expect(allocated.spec?.containers[0]?.resources?.requests?.cpu).toBe(want.given);
    expect(restarts).toEqual(want.restarts ?? []);
    if (want.pending === undefined) expect(pending).toBeUndefined();
    else
      expect(pending).toMatchObject({
        type: "PodResizePending",
        status: "True",
        observedGeneration: 2,
        ...want.pending,
      });
  });
});
