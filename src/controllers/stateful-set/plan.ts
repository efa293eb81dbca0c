/** A StatefulSet's next writes: revisions, claims, Pods, deletion of old revisions; and the status in any case. */
import { isStatusError, type KubeObject, kinds } from "#api";
import type { RecordedEvent } from "#client";
import { type Revision, templateOf } from "../controller-history/index.ts";
import { availableInMs, isEnding, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import type { FindClaim } from "./claims.ts";
import { forgotten, type History, historyOf } from "./history.ts";
import { nameOf, newPod, type StatefulSet, startOf } from "./identity.ts";
import { type Moves, movesOf } from "./replicas.ts";
import { sameStatus, statusOf } from "./status.ts";

/** Further lookups in the caches. */
export interface Surroundings {
  readonly revisions: readonly Revision[];
  /** The revision of this name, whatever its owner. */
  findRevision(name: string): Revision | undefined;
  readonly findClaim: FindClaim;
}

const NOTHING: Moves = { claims: [], owners: [], create: [], update: [], delete: [], replaced: 0, blocked: [] };

export function planStatefulSet(set: StatefulSet, pods: readonly Pod[], around: Surroundings, now: number): Plan {
  const history = historyOf(set, around.revisions, around.findRevision);
  const moves = isEnding(set) ? NOTHING : movesOf(set, pods, nameOf(history.update), around.findClaim, now);
  const subjects = new Map<Write, Subject>();
  const status = statusOf(set, pods, history, moves.replaced, now);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0).filter((ms) => ms > 0);
  const revisionWrites = isEnding(set) ? [] : history.writes;
  return {
    events: moves.blocked.map(({ pod, claims }) => {
      const error = claims.map((claim) => `pvc ${nameOf(claim)} is being deleted`).join(", ");
      return podEvent(set, "create", pod, error);
    }),
    steps: [
      revisionWrites,
      ...podSteps(set, history, moves, subjects),
      isEnding(set) ? [] : forgotten(set, around.revisions, history, pods),
    ].filter((step) => step.length > 0),
    eventFor: (write, outcome) => {
      const subject = subjects.get(write);
      if (subject === undefined) return undefined;
      if (outcome.ok) return eventOf(set, subject, undefined);
      // It exists already.
      if (isStatusError(outcome.error) && outcome.error.reason === "AlreadyExists") return undefined;
      return eventOf(set, subject, outcome.error instanceof Error ? outcome.error.message : String(outcome.error));
    },
    finally: (failures) => {
      // The status must not name a revision that could not be written.
      if (failures.some(({ write }) => revisionWrites.includes(write))) return [];
      if (sameStatus(status, set.status)) return [];
      const object: StatefulSet = { ...set, status };
      return [{ verb: "updateStatus", resource: kinds.StatefulSet, object }];
    },
    ...(waits.length > 0 && { againAfterMs: Math.min(...waits) }),
  };
}

interface Subject {
  readonly verb: "create" | "update" | "delete";
  readonly pod: string;
  readonly claim?: string;
}

/** Adds the subject of each write to `subjects`. */
function podSteps(
  set: StatefulSet,
  history: History,
  moves: Moves,
  subjects: Map<Write, Subject>,
): readonly (readonly Write[])[] {
  const noted = (write: Write, subject: Subject) => {
    subjects.set(write, subject);
    return write;
  };
  const onPod = (verb: Subject["verb"], object: KubeObject): Write =>
    noted({ verb, resource: kinds.Pod, object }, { verb, pod: nameOf(object) });
  return [
    moves.claims.map(({ claim, pod }) =>
      noted(
        { verb: "create", resource: kinds.PersistentVolumeClaim, object: claim },
        { verb: "create", pod, claim: nameOf(claim) },
      ),
    ),
    moves.owners,
    moves.update.map((pod) => onPod("update", pod)),
    moves.create.map((ordinal) => onPod("create", podOf(set, ordinal, history))),
    moves.delete.map((pod) => onPod("delete", pod)),
  ];
}

function podOf(set: StatefulSet, ordinal: number, { current, update }: History): Pod {
  const revision = isCurrentKept(set, ordinal) ? current : update;
  return newPod(set, ordinal, nameOf(revision), templateOf(revision));
}

/** Below the partition, Pods are created from the current revision. */
function isCurrentKept(set: StatefulSet, ordinal: number): boolean {
  const { type = "RollingUpdate", rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (type !== "RollingUpdate") return false;
  const kept = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  return ordinal < startOf(set) + kept;
}

function eventOf(about: StatefulSet, { verb, pod, claim }: Subject, error: string | undefined): RecordedEvent {
  if (claim === undefined) return podEvent(about, verb, pod, error);
  const note =
    error === undefined
      ? `${verb} Claim ${claim} Pod ${pod} in StatefulSet ${nameOf(about)} success`
      : `${verb} Claim ${claim} for Pod ${pod} in StatefulSet ${nameOf(about)} failed error: ${error}`;
  return { about, ...outcomeOf(verb, error), note };
}

function podEvent(about: StatefulSet, verb: Subject["verb"], pod: string, error: string | undefined): RecordedEvent {
  const end = error === undefined ? "successful" : `failed error: ${error}`;
  return { about, ...outcomeOf(verb, error), note: `${verb} Pod ${pod} in StatefulSet ${nameOf(about)} ${end}` };
}

function outcomeOf(verb: Subject["verb"], error: string | undefined) {
  const title = verb.charAt(0).toUpperCase() + verb.slice(1);
  return error === undefined
    ? ({ type: "Normal", reason: `Successful${title}` } as const)
    : ({ type: "Warning", reason: `Failed${title}` } as const);
}
