/** The status of a ReplicaSet or ReplicationController: no count may exceed `replicas`. */

import { allNonNegative } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid } from "../../machinery/errors/field-error.ts";
import type { ReplicaSetStatus } from "../../types/apps-v1.ts";

const counts = [
  "replicas",
  "fullyLabeledReplicas",
  "readyReplicas",
  "availableReplicas",
  "terminatingReplicas",
  "observedGeneration",
] as const;

export function validateReplicaCounts(status: ReplicaSetStatus | undefined, at: FieldPath): readonly FieldError[] {
  if (status === undefined) return [];
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const tooHigh = (["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const)
    .filter((name) => (status[name] ?? 0) > replicas)
    .map((name) => invalid(at.child(name), status[name] ?? 0, "cannot be greater than status.replicas"));
  return [
    ...allNonNegative(status, counts, at),
    ...tooHigh,
    ...(availableReplicas > readyReplicas
      ? [invalid(at.child("availableReplicas"), availableReplicas, "cannot be greater than readyReplicas")]
      : []),
  ];
}
