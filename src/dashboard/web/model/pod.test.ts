import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { podSummary } from "./pod.ts";

type Status = NonNullable<core.Pod["status"]>;
const container = (state: object, ready = false, restartCount = 0) => ({
  name: "c",
  image: "",
  imageID: "",
  ready,
  restartCount,
  state,
});
const pod = (status: Status, more: Partial<core.Pod> = {}): core.Pod => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c" }] },
  status,
  ...more,
});

describe("a Pod in a word", () => {
  it.each<[string, core.Pod, string, string]>([
    ["that waits for a node", pod({ phase: "Pending" }), "Pending", "busy"],
    ["that runs", pod({ phase: "Running", containerStatuses: [container({ running: {} }, true)] }), "Running", "good"],
    ["not yet ready", pod({ phase: "Running", containerStatuses: [container({ running: {} })] }), "Running", "busy"],
    [
      "that crashes",
      pod({ phase: "Running", containerStatuses: [container({ waiting: { reason: "CrashLoopBackOff" } })] }),
      "CrashLoopBackOff",
      "bad",
    ],
    [
      "that is done",
      pod({ phase: "Succeeded", containerStatuses: [container({ terminated: { exitCode: 0, reason: "Completed" } })] }),
      "Completed",
      "quiet",
    ],
    [
      "that was ended",
      pod({ phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 3 } })] }),
      "ExitCode:3",
      "bad",
    ],
    ["that was evicted", pod({ phase: "Failed", reason: "Evicted" }), "Evicted", "bad"],
    [
      "that goes",
      pod({ phase: "Running" }, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "Terminating",
      "busy",
    ],
    [
      "in its first step",
      pod(
        { phase: "Pending", initContainerStatuses: [container({ running: {} })] },
        { spec: { containers: [{ name: "c" }], initContainers: [{ name: "c" }, { name: "d" }] } },
      ),
      "Init:0/2",
      "busy",
    ],
  ])("%s", (_, given, word, tone) => {
    expect(podSummary(given)).toMatchObject({ word, tone, containers: 1 });
  });
});
