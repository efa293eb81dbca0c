/**
 * The next writes of a ReplicaSet or ReplicationController.
 *
 *     fewer active Pods than replicas    create the difference; later and later while nodes reject them
 *     more                               delete the surplus, in deletion order
 *     in any case                        update the status, with the condition ReplicaFailure
 */
import {
  type core,
  equalJson,
  type Int64,
  isStatusError,
  type Json,
  type KubeObject,
  kinds,
  type LabelMatcher,
} from "#api";
import {
  availableInMs,
  inDeletionOrder,
  isActive,
  isEnding,
  isFinished,
  isReady,
  type Pod,
  podFromTemplate,
} from "../pods/index.ts";
import type { Failure, Plan, Write } from "../runtime/index.ts";
import { replacementDelayMs } from "./rejected-pods.ts";

/** Limit for one run; the next run continues. */
const BURST = 500;

export interface Replicated {
  readonly object: KubeObject;
  /** The kind in the owner references of its Pods. */
  readonly kind: { readonly apiVersion: string; readonly kind: string };
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly template: core.PodTemplateSpec | undefined;
  readonly status: ReplicaStatus;
  /** Whether its status counts terminating Pods. */
  readonly countsTerminating: boolean;
  withStatus(status: ReplicaStatus): Write;
}

export interface ReplicaStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: Int64;
  readonly conditions?: readonly ReplicaCondition[];
}

interface ReplicaCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** `owned`: all of its Pods. `siblings`: Pods of related owners on a Pod's node. */
export function planReplicas(
  wanted: Replicated,
  owned: readonly Pod[],
  siblings: (pod: Pod) => number,
  now: number,
): Plan {
  const { object, replicas, minReadySeconds, template } = wanted;
  const active = owned.filter(isActive);
  const missing = isEnding(object) ? 0 : replicas - active.length;
  const delayMs = missing > 0 ? replacementDelayMs(owned, replicas, now) : 0;
  const writes =
    missing >= 0
      ? Array.from({ length: delayMs > 0 ? 0 : Math.min(missing, BURST) }, () => creation(wanted))
      : inDeletionOrder(active, siblings)
          .slice(0, Math.min(-missing, BURST))
          .map((pod): Write => ({ verb: "delete", resource: kinds.Pod, object: pod }));
  const availability = active.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0);
  const waits = [...availability, delayMs].filter((ms) => ms > 0);
  return {
    steps: [writes],
    eventFor: (write, outcome) => eventAbout(object, write, outcome),
    finally: (failures) => {
      const status = statusOf(wanted, owned, active, template, missing, failures, now);
      return sameStatus(status, wanted.status) ? [] : [wanted.withStatus(status)];
    },
    ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }),
  };
}

function creation({ object, kind, template }: Replicated): Write {
  return { verb: "create", resource: kinds.Pod, object: podFromTemplate(template, object, kind) };
}

function statusOf(
  { object, minReadySeconds, status: old, countsTerminating }: Replicated,
  owned: readonly Pod[],
  active: readonly Pod[],
  template: core.PodTemplateSpec | undefined,
  missing: number,
  failures: readonly Failure[],
  now: number,
): ReplicaStatus {
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const fits = ({ metadata }: Pod) => labels.every(([key, value]) => metadata.labels?.[key] === value);
  const conditions = conditionsOf(old.conditions ?? [], missing, failures, now);
  const { generation } = object.metadata;
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(fits).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => availableInMs(pod, minReadySeconds, now) === 0).length,
    ...(countsTerminating && { terminatingReplicas: owned.filter((pod) => isEnding(pod) && !isFinished(pod)).length }),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** ReplicaFailure: Pods could not be created or deleted. */
function conditionsOf(
  old: readonly ReplicaCondition[],
  missing: number,
  failures: readonly Failure[],
  now: number,
): readonly ReplicaCondition[] {
  const others = old.filter(({ type }) => type !== "ReplicaFailure");
  const [failure] = failures;
  if (failure === undefined) return others;
  const before = old.find(({ type }) => type === "ReplicaFailure");
  if (before !== undefined) return old;
  return [
    ...others,
    {
      type: "ReplicaFailure",
      status: "True",
      reason: missing > 0 ? "FailedCreate" : "FailedDelete",
      message: messageOf(failure.error),
      lastTransitionTime: `${new Date(now).toISOString().slice(0, 19)}Z`,
    },
  ];
}

function eventAbout(about: KubeObject, write: Write, outcome: Parameters<NonNullable<Plan["eventFor"]>>[1]) {
  const create = write.verb === "create";
  if (!create && write.verb !== "delete") return undefined;
  if (outcome.ok) {
    const name = (create ? outcome.object : write.object)?.metadata.name ?? "";
    return {
      about,
      type: "Normal",
      reason: create ? "SuccessfulCreate" : "SuccessfulDelete",
      note: `${create ? "Created" : "Deleted"} pod: ${name}`,
    } as const;
  }
  // A terminating namespace takes the owner with it: no Event.
  if (
    isStatusError(outcome.error) &&
    outcome.error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating")
  )
    return undefined;
  return {
    about,
    type: "Warning",
    reason: create ? "FailedCreate" : "FailedDelete",
    note: `${create ? "Error creating" : "Error deleting"}: ${messageOf(outcome.error)}`,
  } as const;
}

function sameStatus(a: ReplicaStatus, b: ReplicaStatus): boolean {
  const filled = (status: ReplicaStatus) => ({
    ...status,
    fullyLabeledReplicas: status.fullyLabeledReplicas ?? 0,
    readyReplicas: status.readyReplicas ?? 0,
    availableReplicas: status.availableReplicas ?? 0,
    conditions: status.conditions ?? [],
  });
  return equalJson(filled(a) as unknown as Json, filled(b) as unknown as Json);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An empty selector is no selector. */
export function selects(matcher: LabelMatcher, labels: Readonly<Record<string, string>> | undefined): boolean {
  return !matcher.nothing && matcher.requirements.length > 0 && matcher.matches(labels ?? {});
}
