/** Lives of Pods as a watcher of their status sees them, each line with its second. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { podStatus } from "../pod-status/index.ts";
import { PodLife } from "./pod-life.ts";
import { DEFAULTS, readScript } from "./script.ts";

const START = Date.UTC(2030, 0, 1);
const c = (name: string, ...command: string[]): core.Container => ({
  name,
  image: "img",
  ...(command.length > 0 && { command }),
});
const sh = (name: string, script: string) => c(name, "sh", "-c", script);
const sidecar = { ...c("s"), restartPolicy: "Always" };

interface Story {
  readonly spec: Partial<core.PodSpec>;
  readonly annotations?: Record<string, string>;
  readonly deletedAtSecond?: number;
  readonly graceSeconds?: number;
  readonly seconds?: number;
}

function podOf({ spec, annotations = {} }: Story): core.Pod {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`simulated.k8ts.io/${name}`, value]);
  return {
    metadata: { name: "p", namespace: "d", uid: "u", generation: 1, annotations: Object.fromEntries(prefixed) },
    spec: { containers: [c("c")], restartPolicy: "Always", ...spec },
  };
}

function tell(story: Story): string[] {
  let pod = podOf(story);
  let ids = 0;
  const options = {
    script: readScript(pod, DEFAULTS),
    newId: () => `sim://${ids++}`,
    imageID: (image: string) => image,
  };
  const life = new PodLife(pod, options, START);
  const lines: string[] = [];
  const until = START + (story.seconds ?? 100) * 1_000;
  const deletedMs =
    story.deletedAtSecond === undefined ? Number.POSITIVE_INFINITY : START + story.deletedAtSecond * 1_000;
  for (let now = START; now <= until && !life.isGone; ) {
    if (now >= deletedMs && pod.metadata.deletionTimestamp === undefined) {
      const deletionGracePeriodSeconds = story.graceSeconds ?? 30;
      pod = {
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds },
      };
      life.update(pod, now);
    }
    const next = life.advance(now);
    const status = podStatus(pod, life.observed(now, { hostIPs: ["10.0.0.1"], podIPs: [] }), now);
    pod = { ...pod, status };
    const line = shown(status);
    if (!lines.at(-1)?.endsWith(` ${line}`)) lines.push(`${(now - START) / 1_000} ${line}`);
    expect(next, "time goes on").toBeGreaterThan(now);
    now = Math.min(next, now < deletedMs ? deletedMs : Number.POSITIVE_INFINITY);
  }
  return lines;
}

function shown({ phase, reason, containerStatuses = [], initContainerStatuses = [] }: core.PodStatus): string {
  const state = ({ name, state: is, ready, restartCount }: core.ContainerStatus) => {
    const what = is?.running ? "runs" : is?.terminated ? `exit ${is.terminated.exitCode}` : is?.waiting?.reason;
    return `${name}: ${what}${ready ? ", ready" : ""}${restartCount > 0 ? `, ×${restartCount}` : ""}`;
  };
  const all = [...initContainerStatuses, ...containerStatuses].map(state).join("; ");
  return `${phase}${reason === undefined ? "" : ` (${reason})`} | ${all}`;
}

describe("the life of a Pod", () => {
  it.each<[name: string, story: Story, told: string[]]>([
    ["runs until it is stopped", { spec: {} }, ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready"]],
    [
      "one that ends well and is not restarted",
      { spec: { restartPolicy: "Never", containers: [c("c", "sleep", "5")] } },
      ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready", "5.1 Succeeded | c: exit 0"],
    ],
    [
      "one that fails and is not restarted",
      { spec: { restartPolicy: "Never", containers: [sh("c", "exit 7")] } },
      ["0 Pending | c: ContainerCreating", "0.1 Failed | c: exit 7"],
    ],
    [
      "one that crashes: again at once, then after 10, 20, 40 s",
      { spec: { containers: [sh("c", "sleep 1; exit 1")] }, seconds: 40 },
      [
        "0 Pending | c: ContainerCreating",
        "0.1 Running | c: runs, ready",
        "1.1 Running | c: runs, ready, ×1",
        "2.1 Running | c: CrashLoopBackOff, ×1",
        "12.1 Running | c: runs, ready, ×2",
        "13.1 Running | c: CrashLoopBackOff, ×2",
        "33.1 Running | c: runs, ready, ×3",
        "34.1 Running | c: CrashLoopBackOff, ×3",
      ],
    ],
    [
      "OnFailure: restarted until it ends well",
      { spec: { restartPolicy: "OnFailure", containers: [c("c", "sleep", "1")] } },
      ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready", "1.1 Succeeded | c: exit 0"],
    ],
    [
      "init containers one after the other",
      { spec: { initContainers: [c("i", "sleep", "1"), c("j", "sleep", "2")] } },
      [
        "0 Pending | i: PodInitializing; j: PodInitializing; c: PodInitializing",
        "0.1 Pending | i: runs; j: PodInitializing; c: PodInitializing",
        "1.1 Pending | i: exit 0, ready; j: runs; c: PodInitializing",
        "3.1 Running | i: exit 0, ready; j: exit 0, ready; c: runs, ready",
      ],
    ],
    [
      "an init container that fails for good",
      { spec: { restartPolicy: "Never", initContainers: [sh("i", "exit 1")] } },
      ["0 Pending | i: PodInitializing; c: PodInitializing", "0.1 Failed | i: exit 1; c: PodInitializing"],
    ],
    [
      "an init container that fails and is restarted",
      { spec: { initContainers: [sh("i", "exit 1")] }, seconds: 5 },
      [
        "0 Pending | i: PodInitializing; c: PodInitializing",
        "0.1 Pending | i: CrashLoopBackOff, ×1; c: PodInitializing",
      ],
    ],
    [
      "a sidecar starts first, and stops when the others are done",
      { spec: { restartPolicy: "Never", initContainers: [sidecar], containers: [c("c", "sleep", "3")] } },
      [
        "0 Pending | s: PodInitializing; c: PodInitializing",
        "0.1 Running | s: runs, ready; c: runs, ready",
        "3.1 Running | s: runs, ready; c: exit 0",
        "3.2 Succeeded | s: exit 143; c: exit 0",
      ],
    ],
    [
      "others wait for a sidecar's startup probe",
      { spec: { initContainers: [{ ...sidecar, startupProbe: { initialDelaySeconds: 4 } }] } },
      [
        "0 Pending | s: PodInitializing; c: PodInitializing",
        "0.1 Pending | s: runs; c: PodInitializing",
        "4.1 Running | s: runs, ready; c: runs, ready",
      ],
    ],
    [
      "ready after a while",
      { spec: {}, annotations: { "start-delay": "2s", "ready-delay": "3s" } },
      ["0 Pending | c: ContainerCreating", "2 Running | c: runs", "5 Running | c: runs, ready"],
    ],
    [
      "an image that cannot be pulled twice",
      { spec: {}, annotations: { "fail-pull": "2" } },
      [
        "0 Pending | c: ContainerCreating",
        "0.1 Pending | c: ErrImagePull",
        "20.1 Pending | c: ImagePullBackOff",
        "30.1 Running | c: runs, ready",
      ],
    ],
    [
      "its deadline",
      { spec: { activeDeadlineSeconds: 5 } },
      [
        "0 Pending | c: ContainerCreating",
        "0.1 Running | c: runs, ready",
        "5.1 Failed (DeadlineExceeded) | c: exit 143",
      ],
    ],
    [
      "stops when it is asked to",
      { spec: {}, deletedAtSecond: 3, annotations: { "stop-delay": "2s" } },
      ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready", "5 Failed | c: exit 143"],
    ],
    [
      "is killed when its grace is over",
      { spec: {}, deletedAtSecond: 3, annotations: { "stop-delay": "1h" }, graceSeconds: 10 },
      ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready", "13 Failed | c: exit 137"],
    ],
    [
      "ends well when it is asked to",
      { spec: {}, deletedAtSecond: 3, annotations: { "stop-exit-code": "0" } },
      ["0 Pending | c: ContainerCreating", "0.1 Running | c: runs, ready", "3.1 Succeeded | c: exit 0"],
    ],
  ])("%s", (_, story, told) => {
    expect(tell(story)).toEqual(told);
  });

  it("starts over after ten good minutes", () => {
    const lines = tell({ spec: { containers: [sh("c", "sleep 11m; exit 1")] }, seconds: 2_000 });
    expect(lines.filter((line) => line.includes("CrashLoopBackOff"))).toEqual([]);
  });
});
