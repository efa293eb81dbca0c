import { describe, expect, it } from "vitest";
import type { apps } from "#api";
import { daemonSetProgress, deploymentProgress, jobProgress, statefulSetProgress } from "./workload.ts";

const deployment = (status: object, spec: object = {}): apps.Deployment =>
  ({
    metadata: { generation: 2 },
    spec: { replicas: 3, ...spec },
    status: { observedGeneration: 2, ...status },
  }) as apps.Deployment;

describe("the progress of a rollout", () => {
  it.each<[string, apps.Deployment, string, string]>([
    ["not seen yet", deployment({ observedGeneration: 1 }), "waiting for its controller", "busy"],
    ["half-way", deployment({ replicas: 4, updatedReplicas: 2 }), "2 of 3 updated", "busy"],
    ["with old ones left", deployment({ replicas: 4, updatedReplicas: 3 }), "1 old left", "busy"],
    ["waiting", deployment({ replicas: 3, updatedReplicas: 3, availableReplicas: 1 }), "1 of 3 available", "busy"],
    ["done", deployment({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 }), "available", "good"],
    ["paused", deployment({}, { paused: true }), "paused", "quiet"],
    ["scaled to zero", deployment({}, { replicas: 0 }), "scaled to zero", "quiet"],
    [
      "stuck",
      deployment({ conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] }),
      "stuck: progress deadline exceeded",
      "bad",
    ],
  ])("%s", (_, given, words, tone) => {
    expect(deploymentProgress(given)).toMatchObject({ words, tone });
  });

  it("is told for the other kinds in the same terms", () => {
    expect(
      statefulSetProgress({
        spec: { replicas: 2 },
        status: { replicas: 2, currentRevision: "a", updateRevision: "b", updatedReplicas: 1 },
      } as apps.StatefulSet),
    ).toMatchObject({ desired: 2, updated: 1, words: "1 of 2 updated" });
    expect(
      daemonSetProgress({
        status: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2 },
      } as apps.DaemonSet),
    ).toMatchObject({ words: "available", tone: "good" });
    expect(
      jobProgress({ metadata: {}, spec: { completions: 3, template: {} }, status: { succeeded: 1, active: 1 } }),
    ).toMatchObject({
      updated: 2,
      ready: 1,
      words: "1 of 3 done",
    });
  });
});
