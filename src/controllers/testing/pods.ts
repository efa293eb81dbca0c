/** Pods in every state, and status updates like those of a kubelet. */
import { type core, isStatusError, kinds } from "#api";
import type { Client } from "#client";

export interface PodFacts {
  readonly node?: string;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly ready?: boolean;
  /** Time of its last readiness change. */
  readonly since?: string;
  readonly created?: string;
  readonly restarts?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: { readonly metadata: { readonly uid?: string; readonly name?: string } };
  readonly ending?: boolean;
}

const START = "2030-01-01T00:00:00Z";

export function podWith(name: string, facts: PodFacts = {}): core.Pod {
  const { node, phase = "Running", ready = phase === "Running", since = START, created = START, owner } = facts;
  return {
    metadata: {
      name,
      namespace: "default",
      uid: `uid-of-${name}`,
      creationTimestamp: created,
      ...(facts.labels && { labels: facts.labels }),
      ...(facts.annotations && { annotations: facts.annotations }),
      ...(facts.ending && { deletionTimestamp: START }),
      ...(owner && {
        ownerReferences: [
          {
            apiVersion: "apps/v1",
            kind: "ReplicaSet",
            name: owner.metadata.name ?? "",
            uid: owner.metadata.uid ?? "",
            controller: true,
          },
        ],
      }),
    },
    spec: { containers: [{ name: "c", image: "i" }], ...(node !== undefined && { nodeName: node }) },
    status: {
      phase,
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: since }],
      containerStatuses: [{ name: "c", image: "i", imageID: "", ready, restartCount: facts.restarts ?? 0 }],
    },
  };
}

/** Makes all selected Pods run or fail, like a kubelet would report it. */
export async function reportPods(
  client: Client,
  now: number,
  report: Pick<PodFacts, "phase" | "ready"> = {},
  picks: (pod: core.Pod) => boolean = () => true,
): Promise<void> {
  const { status } = podWith("any", { ...report, since: `${new Date(now).toISOString().slice(0, 19)}Z` });
  for (const pod of (await client.of(kinds.Pod).list()).items) {
    if (pod.metadata.deletionTimestamp !== undefined || !picks(pod) || status === undefined) continue;
    try {
      await client.of(kinds.Pod).updateStatus({ ...pod, status });
    } catch (error) {
      // It may have been deleted or changed by a controller meanwhile.
      if (!isStatusError(error) || !["NotFound", "Conflict"].includes(error.reason)) throw error;
    }
  }
}
