import { describe, expect, it } from "vitest";
import { applyStrategicMergePatch, type core, type JsonObject, typeSchema } from "#api";
import { statusPatch } from "./patch.ts";
import { podStatus } from "./pod-status.ts";
import { exited, NOW, podOf, running, seen, THEN } from "./testing/build.ts";

const states = {
  nothing: undefined,
  creating: podStatus(podOf(), seen({}, { sandboxReady: false, podIPs: [] }), NOW),
  running: podStatus(podOf(), seen({ c: running() }), NOW),
  elsewhere: podStatus(podOf(), seen({ c: running() }, { podIPs: ["10.1.0.77", "fd00::7"] }), NOW),
  failed: podStatus(podOf({ restartPolicy: "Never" }), seen({ c: exited(1) }), NOW),
  rich: podStatus(
    podOf({ containers: [{ name: "c", resources: { requests: { cpu: "1", memory: "1Gi" } } }] }),
    seen(),
    NOW,
  ),
} satisfies Record<string, core.PodStatus | undefined>;
const names = Object.keys(states) as (keyof typeof states)[];

describe("statusPatch", () => {
  it.each(names.flatMap((from) => names.filter((to) => to !== "nothing").map((to) => [from, to] as const)))(
    "from %s to %s",
    (from, to) => {
      const pod = podOf({}, states[from]);
      const next = states[to] as core.PodStatus;
      const patch = statusPatch(pod, next);
      const patched =
        patch === undefined
          ? pod
          : applyStrategicMergePatch(pod as unknown as JsonObject, patch, typeSchema("io.k8s.api.core.v1.Pod"));
      expect((patched as core.Pod).status).toEqual(next);
    },
  );

  it("says nothing where nothing has changed, and only what has", () => {
    const pod = podOf({}, states.running);
    expect(statusPatch(pod, states.running)).toBeUndefined();
    expect(statusPatch(pod, { ...states.running, message: "m" })).toEqual({
      metadata: { uid: "u-1" },
      status: { message: "m" },
    });
  });

  it("leaves conditions of others alone", () => {
    const foreign = { type: "example.com/open", status: "True", lastTransitionTime: THEN };
    const pod = podOf({}, { ...states.creating, conditions: [foreign, ...(states.creating.conditions ?? [])] });
    const patch = statusPatch(pod, podStatus(pod, seen({ c: running() }), NOW));
    const { conditions } = (patch?.status ?? {}) as core.PodStatus;
    expect(conditions?.map(({ type }) => type)).toEqual(["PodReadyToStartContainers", "Ready", "ContainersReady"]);
  });
});
