/** What a test may expect of an object: a sentence, and whether it is true of the object's current state. */
import type { KubeObject } from "#api";

export interface Condition {
  /** Follows the object's name: `to be ready`. */
  readonly words: string;
  /** `object` is undefined if it does not exist. */
  holds(object: KubeObject | undefined): boolean;
}

interface Observed extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Workloads: all replicas are updated and ready. Everything else: its condition Ready is True. */
export function beReady(): Condition {
  return { words: "to be ready", holds: (object) => object !== undefined && isReady(object) };
}

export function haveCondition(type: string, status: "True" | "False" | "Unknown" = "True"): Condition {
  return {
    words: `to have the condition ${type}=${status}`,
    holds: (object) => conditionOf(object, type) === status,
  };
}

/** Jobs: the condition Complete is True. */
export function beComplete(): Condition {
  return { ...haveCondition("Complete"), words: "to be complete" };
}

export function exist(): Condition {
  return { words: "to exist", holds: (object) => object !== undefined };
}

export function beGone(): Condition {
  return { words: "to be gone", holds: (object) => object === undefined };
}

/** Whatever a function says. `words` begin with "to". */
export function satisfy<T extends KubeObject>(words: string, holds: (object: T) => boolean): Condition {
  return { words, holds: (object) => object !== undefined && holds(object as T) };
}

function isReady(object: Observed): boolean {
  const { metadata, spec, status = {} } = object;
  const { observedGeneration = 0 } = status;
  const isCurrent = observedGeneration >= Number((metadata as { readonly generation?: number }).generation ?? 0);
  switch (object.kind) {
    case "DaemonSet":
      return isCurrent && status.numberReady === status.desiredNumberScheduled;
    case "Deployment":
    case "StatefulSet": {
      const { replicas = 1 } = spec ?? {};
      const counts = [status.replicas ?? 0, status.updatedReplicas ?? 0, status.readyReplicas ?? 0];
      return isCurrent && counts.every((count) => count === replicas);
    }
    case "ReplicaSet":
    case "ReplicationController":
      return isCurrent && (status.readyReplicas ?? 0) === (spec?.replicas ?? 1);
    default:
      return conditionOf(object, "Ready") === "True";
  }
}

function conditionOf(object: Observed | undefined, type: string): string | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type)?.status;
}
