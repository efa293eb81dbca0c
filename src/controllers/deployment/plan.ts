/**
 * A Deployment's next writes: the step that `move.ts` decides, and the status.
 *
 * 1. Each ReplicaSet is written at most once: annotations, size and minReadySeconds together.
 * 2. The status is written once, after all other writes succeeded. It includes the Deployment's revision annotation.
 */
import { compareInt64, equalJson, isStatusError, type Json, kinds } from "#api";
import type { RecordedEvent } from "#client";
import { isEnding } from "../pods/index.ts";
import type { Failure, Outcome, Plan, Write } from "../runtime/index.ts";
import { newSetAnnotations, REVISION, type ReplicaSet, revisionOf, sizeAnnotations } from "./annotations.ts";
import { conditionOf, type Said, withCondition, withPause } from "./conditions.ts";
import { type Deployment, historyLimit, progressDeadlineMs } from "./limits.ts";
import { type Move, moveOf } from "./move.ts";
import { compareAge, type Generations, generationsOf, nameOf, nextRevision, sizeOf } from "./replica-sets.ts";
import type { Sizes } from "./rolling.ts";
import { checkAgainMs, rolloutStatusOf, type Status, sameStatus, statusOf } from "./status.ts";

/** Further lookups in the caches. */
export interface Surroundings {
  /** Whether the ReplicaSet has unfinished Pods, including terminating ones. */
  hasPods(set: ReplicaSet): boolean;
  /** Whether a ReplicaSet of this name exists, whatever its owner. */
  isTaken(name: string): boolean;
}

export function planDeployment(
  stored: Deployment,
  sets: readonly ReplicaSet[],
  { hasPods, isTaken }: Surroundings,
  now: number,
): Plan {
  const found = generationsOf(stored, sets);
  if (isEnding(stored)) return { finally: () => statusWrite(stored, stored, statusOf(stored, found, now)) };
  const current = { ...found, new: upToDate(stored, found) };
  const begun = withFound(withPauseCondition(stored, now), current.new, now);
  const move = moveOf(begun, current, hasPods);
  const { create, rollsOut } = move;
  if (create !== undefined && isTaken(nameOf(create))) return collisionPlan(stored);
  const deployment = create === undefined ? begun : withCreated(begun, create, now);

  const next: Generations = {
    new: create ?? (current.new && resized(deployment, current.new, move.sizes)),
    old: current.old.map((set) => resized(deployment, set, move.sizes)),
  };
  const status = (rollsOut ? rolloutStatusOf : statusOf)(deployment, next, now);
  const events = new Map<Write, RecordedEvent>();
  const steps = stepsOf(deployment, sets, next, move, events);
  const againAfterMs = rollsOut ? checkAgainMs(deployment, status, now) : undefined;
  return {
    steps,
    eventFor: (write, outcome) => (outcome.ok ? events.get(write) : failedCreation(stored, write, outcome)),
    finally: (failures) =>
      failures.length === 0 ? statusWrite(stored, deployment, status) : creationFailure(stored, begun, failures, now),
    againAfterMs,
  };
}

/** The new ReplicaSet with up-to-date annotations and minReadySeconds. */
function upToDate(deployment: Deployment, { new: newSet, old }: Generations): ReplicaSet | undefined {
  if (newSet?.spec === undefined) return newSet;
  const annotations = newSetAnnotations(deployment, newSet.metadata.annotations, nextRevision(old));
  const { minReadySeconds: _, ...spec } = newSet.spec;
  const seconds = deployment.spec?.minReadySeconds ?? 0;
  return {
    ...newSet,
    metadata: { ...newSet.metadata, annotations },
    spec: { ...spec, ...(seconds > 0 && { minReadySeconds: seconds }) },
  };
}

function resized(deployment: Deployment, set: ReplicaSet, sizes: Sizes): ReplicaSet {
  const replicas = sizes.get(nameOf(set));
  if (replicas === undefined || set.spec === undefined) return set;
  return {
    ...set,
    metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...sizeAnnotations(deployment) } },
    spec: { ...set.spec, replicas },
  };
}

/** Adds the Event of each successful write to `events`. */
function stepsOf(
  deployment: Deployment,
  stored: readonly ReplicaSet[],
  next: Generations,
  { create, cleansUp }: Move,
  events: Map<Write, RecordedEvent>,
): readonly (readonly Write[])[] {
  const creations: Write[] = [];
  if (create !== undefined) {
    const write: Write = { verb: "create", resource: kinds.ReplicaSet, object: create };
    creations.push(write);
    if (sizeOf(create) > 0) events.set(write, scalingEvent(deployment, create, 0));
  }
  const before = new Map(stored.map((set) => [nameOf(set), set]));
  const updates: Write[] = [];
  for (const set of next.new === undefined ? next.old : [next.new, ...next.old]) {
    const old = before.get(nameOf(set));
    if (old === undefined || same(old, set)) continue;
    const write: Write = { verb: "update", resource: kinds.ReplicaSet, object: set };
    updates.push(write);
    if (sizeOf(old) !== sizeOf(set)) events.set(write, scalingEvent(deployment, set, sizeOf(old)));
  }
  const deletions = (cleansUp ? tooOld(deployment, next.old) : []).map(
    (set): Write => ({ verb: "delete", resource: kinds.ReplicaSet, object: set }),
  );
  return [creations, updates, deletions].filter((step) => step.length > 0);
}

function scalingEvent(deployment: Deployment, set: ReplicaSet, from: number): RecordedEvent {
  const direction = sizeOf(set) > from ? "up" : "down";
  const note = `Scaled ${direction} replica set ${nameOf(set)} from ${from} to ${sizeOf(set)}`;
  return { about: deployment, type: "Normal", reason: "ScalingReplicaSet", note };
}

/** The oldest ones beyond the history limit. One that has, or is about to get, Pods stays. */
function tooOld(deployment: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const limit = historyLimit(deployment);
  if (limit === undefined) return [];
  const alive = old.filter((set) => !isEnding(set));
  return [...alive]
    .sort((a, b) => compareInt64(revisionOf(a), revisionOf(b)) || compareAge(a, b))
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      ({ spec, status, metadata }) =>
        (status?.replicas ?? 0) === 0 &&
        (spec?.replicas ?? 1) === 0 &&
        (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0),
    );
}

function withPauseCondition(deployment: Deployment, now: number): Deployment {
  return { ...deployment, status: { ...deployment.status, conditions: withPause(deployment, now) } };
}

/** Rollouts that began before progressDeadlineSeconds was set. */
function withFound(deployment: Deployment, newSet: ReplicaSet | undefined, now: number): Deployment {
  if (newSet === undefined) return deployment;
  const revised = withRevision(deployment, newSet);
  if (conditionOf(deployment.status?.conditions, "Progressing") !== undefined) return revised;
  return progressing(revised, "FoundNewReplicaSet", `Found new replica set "${nameOf(newSet)}"`, now);
}

function withCreated(deployment: Deployment, newSet: ReplicaSet, now: number): Deployment {
  const message = `Created new replica set "${nameOf(newSet)}"`;
  return progressing(withRevision(deployment, newSet), "NewReplicaSetCreated", message, now);
}

function progressing(deployment: Deployment, reason: string, message: string, now: number): Deployment {
  if (progressDeadlineMs(deployment) === undefined) return deployment;
  return said(deployment, { type: "Progressing", status: "True", reason, message }, now);
}

function said(deployment: Deployment, condition: Said, now: number): Deployment {
  const conditions = withCondition(deployment.status?.conditions ?? [], condition, now);
  return { ...deployment, status: { ...deployment.status, conditions } };
}

function withRevision(deployment: Deployment, { metadata }: ReplicaSet): Deployment {
  const revision = metadata.annotations?.[REVISION];
  if (revision === undefined) return deployment;
  const annotations = { ...deployment.metadata.annotations, [REVISION]: revision };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/** The name is taken by another object: the next attempt uses another hash. */
function collisionPlan(stored: Deployment): Plan {
  const status = { ...stored.status, collisionCount: (stored.status?.collisionCount ?? 0) + 1 };
  return { finally: () => statusWrite(stored, stored, status) };
}

function creationFailure(
  stored: Deployment,
  begun: Deployment,
  failures: readonly Failure[],
  now: number,
): readonly Write[] {
  const failure = failures.find(({ write, error }) => write.verb === "create" && isWorthTelling(error));
  if (failure === undefined || progressDeadlineMs(stored) === undefined) return [];
  const message = creationFault(failure.write, failure.error);
  const failed = said(begun, { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message }, now);
  return statusWrite(stored, failed, failed.status ?? {});
}

function failedCreation(
  about: Deployment,
  write: Write,
  { error }: Extract<Outcome, { ok: false }>,
): RecordedEvent | undefined {
  if (write.verb !== "create" || !isWorthTelling(error)) return undefined;
  return { about, type: "Warning", reason: "ReplicaSetCreateError", note: creationFault(write, error) };
}

function creationFault({ object }: Write, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `Failed to create new replica set "${nameOf(object)}": ${message}`;
}

/** An existing ReplicaSet is found by the next run; a terminating namespace takes the Deployment with it. */
function isWorthTelling(error: unknown): boolean {
  if (!isStatusError(error)) return true;
  if (error.reason === "AlreadyExists") return false;
  return !error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating");
}

function statusWrite(stored: Deployment, { metadata }: Deployment, status: Status): readonly Write[] {
  if (sameStatus(status, stored.status) && same(metadata, stored.metadata)) return [];
  const object: Deployment = { ...stored, metadata, status };
  return [{ verb: "updateStatus", resource: kinds.Deployment, object }];
}

function same(a: object, b: object): boolean {
  return equalJson(a as Json, b as Json);
}
