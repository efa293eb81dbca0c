/** What a node of a fleet knows of one of its Pods. */
import type { core, Int64 } from "#api";
import type { PendingResize } from "../admission/index.ts";
import type { PodFailure } from "../lifecycle/index.ts";
import type { FleetPods } from "./fleet-pods.ts";
import type { PodLife } from "./pod-life.ts";

export interface PodEntry {
  readonly owner: FleetPods;
  /** As the API server has it. */
  pod: core.Pod;
  /** With the resources that the node has allocated: a resize may be pending. */
  allocated: core.Pod;
  pending: PendingResize | undefined;
  /** Undefined once the Pod has finished. */
  life: PodLife | undefined;
  rejection: PodFailure | undefined;
  address: string | undefined;
  /** The generation in which its stop was reported: until all containers have ended, there is no other report. */
  stopReportedIn: Int64 | undefined;
  isDeleteSent: boolean;
  /** The names of its attachable volumes; undefined until they are known. */
  volumes: readonly string[] | undefined;
  /** How often its volumes were looked for. */
  lookups: number;
}

/** Users want something else of the Pod than before: they have changed or deleted it. */
export function isRequestedOtherwise({ metadata: before }: core.Pod, { metadata }: core.Pod): boolean {
  return (
    metadata.generation !== before.generation ||
    metadata.deletionTimestamp !== before.deletionTimestamp ||
    metadata.deletionGracePeriodSeconds !== before.deletionGracePeriodSeconds
  );
}
