/** Builders of Pods and observed states. */
import type { core } from "#api";
import type { ContainerInstance, ObservedContainer, ObservedPod } from "../observed.ts";

export const NOW = Date.UTC(2030, 0, 1, 0, 1, 0);
export const THEN = "2030-01-01T00:00:30Z";

export function podOf(spec: Partial<core.PodSpec> = {}, status?: core.PodStatus): core.Pod {
  return {
    metadata: { name: "web", namespace: "default", uid: "u-1", generation: 3 },
    spec: { containers: [{ name: "c", image: "img" }], restartPolicy: "Always", nodeName: "n", ...spec },
    ...(status !== undefined && { status }),
  };
}

export function running(restartCount = 0): ObservedContainer {
  return { current: instance({ state: "running", restartCount }) };
}

export function exited(exitCode: number, more: Partial<ContainerInstance> = {}): ObservedContainer {
  const reason = exitCode === 0 ? "Completed" : "Error";
  return { current: instance({ state: "exited", exitCode, reason, finishedAtMs: NOW - 1_000, ...more }) };
}

export function instance(facts: Partial<ContainerInstance>): ContainerInstance {
  return {
    id: "sim://1",
    state: "running",
    image: "img:latest",
    imageID: "img@sha256:0",
    restartCount: 0,
    startedAtMs: NOW - 10_000,
    ...facts,
  };
}

export function seen(
  containers: Readonly<Record<string, ObservedContainer>> = {},
  more: Partial<ObservedPod> = {},
): ObservedPod {
  return {
    containers: new Map(Object.entries(containers)),
    sandboxReady: true,
    hostIPs: ["10.0.0.1"],
    podIPs: ["10.1.0.5"],
    ...more,
  };
}
