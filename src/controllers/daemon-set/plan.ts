/** A DaemonSet's next writes: history, Pods, deletion of old revisions; and the status in any case. */
import { isStatusError, kinds } from "#api";
import type { RecordedEvent } from "#client";
import type { Revision } from "../controller-history/index.ts";
import { availableInMs, isEnding, type Pod } from "../pods/index.ts";
import type { Outcome, Plan, Write } from "../runtime/index.ts";
import { type DaemonSet, daemonPod, podsByNode } from "./daemon-pod.ts";
import { forgotten, hashOf, historyOf } from "./history.ts";
import type { Fit, Node } from "./node-fit.ts";
import { type Facts, placementOf } from "./place.ts";
import { isRolling, limitsOf, rollingStep } from "./rolling.ts";
import { sameStatus, statusOf } from "./status.ts";

/** Further lookups in the caches. */
export interface Surroundings {
  readonly nodes: readonly Node[];
  fitOf(node: Node): Fit;
  readonly revisions: readonly Revision[];
  /** The revision of this name, whatever its owner. */
  findRevision(name: string): Revision | undefined;
  failureWaitMs(node: string): number;
}

export interface DaemonPlan extends Plan {
  /** Nodes whose failed Pod is deleted: their backoff grows. */
  readonly failed: readonly string[];
}

/** Limit for one run; the next run continues. */
const BURST = 250;

export function planDaemonSet(set: DaemonSet, pods: readonly Pod[], around: Surroundings, now: number): DaemonPlan {
  // The revisions of a terminating set may be gone already: nothing can be computed.
  if (isEnding(set)) return { failed: [] };
  const history = historyOf(set, around.revisions, pods, around.findRevision);
  if (history === undefined) return { failed: [], finally: () => [collision(set)] };
  const facts = factsOf(set, hashOf(history.current) ?? "", pods, around, now);
  const placement = placementOf(facts);
  const isSettled = placement.create.length + placement.delete.length === 0;
  const step = isSettled && isRolling(set.spec?.updateStrategy?.type) ? rollingStep(facts) : placement;
  const waits = [
    ...placement.waitsMs,
    ...pods.map((pod) => availableInMs(pod, set.spec?.minReadySeconds ?? 0, now) ?? 0).filter((ms) => ms > 0),
  ];
  const historyWrites = history.steps.flat();
  return {
    failed: placement.failed,
    events: placement.events,
    steps: [
      ...history.steps,
      step.delete.slice(0, BURST).map((object): Write => ({ verb: "delete", resource: kinds.Pod, object })),
      step.create
        .slice(0, BURST)
        .map((node): Write => ({ verb: "create", resource: kinds.Pod, object: daemonPod(set, node, facts.hash) })),
      forgotten(set, history.old, pods),
    ].filter((writes) => writes.length > 0),
    eventFor: (write, outcome) => podEvent(set, write, outcome),
    finally: (failures) => {
      // The current revision does not exist yet: Pods cannot be counted by it.
      if (failures.some(({ write }) => historyWrites.includes(write))) return [];
      const status = statusOf(facts);
      if (sameStatus(status, set)) return [];
      const object: DaemonSet = { ...set, status };
      return [{ verb: "updateStatus", resource: kinds.DaemonSet, object }];
    },
    ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }),
  };
}

function factsOf(set: DaemonSet, hash: string, pods: readonly Pod[], around: Surroundings, now: number): Facts {
  const { nodes, failureWaitMs } = around;
  const known = new Map(nodes.map((node) => [node, around.fitOf(node)]));
  const fitOf = (node: Node) => known.get(node) ?? around.fitOf(node);
  const desired = nodes.filter((node) => fitOf(node).runs).length;
  const surges = limitsOf(set, desired).maxSurge > 0;
  return { set, hash, nodes, byNode: podsByNode(pods), fitOf, failureWaitMs, surges, now };
}

/** The name is taken by another object: the next attempt uses another hash. */
function collision(set: DaemonSet): Write {
  const { status } = set;
  const counts = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  const object: DaemonSet = {
    ...set,
    status: { ...counts, ...status, collisionCount: (status?.collisionCount ?? 0) + 1 },
  };
  return { verb: "updateStatus", resource: kinds.DaemonSet, object };
}

function podEvent(about: DaemonSet, write: Write, outcome: Outcome): RecordedEvent | undefined {
  if (write.resource !== kinds.Pod || (write.verb !== "create" && write.verb !== "delete")) return undefined;
  const isCreation = write.verb === "create";
  if (outcome.ok) {
    const name = (isCreation ? outcome.object : write.object)?.metadata.name ?? "";
    const note = `${isCreation ? "Created" : "Deleted"} pod: ${name}`;
    return { about, type: "Normal", reason: isCreation ? "SuccessfulCreate" : "SuccessfulDelete", note };
  }
  const { error } = outcome;
  // A terminating namespace takes the owner with it: no Event.
  if (isStatusError(error) && error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating"))
    return undefined;
  const message = error instanceof Error ? error.message : String(error);
  const note = `${isCreation ? "Error creating" : "Error deleting"}: ${message}`;
  return { about, type: "Warning", reason: isCreation ? "FailedCreate" : "FailedDelete", note };
}
