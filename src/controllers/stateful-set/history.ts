/**
 * The current and the update revision of a StatefulSet.
 *
 * 1. A template that was used before gets its former revision back, with the highest number.
 * 2. If a name is taken by another object, the collision count is increased for another name.
 */
import { type Int64, kinds } from "#api";
import {
  inOrder,
  keeps,
  nextNumber,
  type Revision,
  revisionData,
  revisionHash,
  revisionName,
  tooMany,
} from "../controller-history/index.ts";
import type { Pod } from "../pods/index.ts";
import { ownedBy, type Write } from "../runtime/index.ts";
import { KIND, nameOf, revisionOf, type StatefulSet } from "./identity.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

export interface History {
  readonly current: Revision;
  readonly update: Revision;
  readonly collisionCount: number;
  /** Writes that create or renumber the update revision. */
  readonly writes: readonly Write[];
}

/** `find`: the revision of this name, whatever its owner. */
export function historyOf(
  set: StatefulSet,
  revisions: readonly Revision[],
  find: (name: string) => Revision | undefined,
): History {
  const ordered = inOrder(revisions);
  const { update, collisionCount, writes } = updateRevision(set, ordered, find);
  const current = ordered.find((each) => nameOf(each) === set.status?.currentRevision) ?? update;
  return { current: nameOf(current) === nameOf(update) ? update : current, update, collisionCount, writes };
}

function updateRevision(
  set: StatefulSet,
  ordered: readonly Revision[],
  find: (name: string) => Revision | undefined,
): Omit<History, "current"> {
  const template = set.spec?.template;
  const equal = ordered.findLast((each) => keeps(each, template));
  let collisionCount = set.status?.collisionCount ?? 0;
  if (equal !== undefined) {
    if (equal === ordered.at(-1) || keeps(ordered.at(-1) as Revision, template))
      return { update: equal, collisionCount, writes: [] };
    const update = { ...equal, revision: nextNumber(ordered) };
    return { update, collisionCount, writes: [{ verb: "update", resource: kinds.ControllerRevision, object: update }] };
  }
  for (; ; collisionCount++) {
    const update = newRevision(set, nextNumber(ordered), collisionCount);
    const taken = find(nameOf(update));
    if (taken === undefined)
      return {
        update,
        collisionCount,
        writes: [{ verb: "create", resource: kinds.ControllerRevision, object: update }],
      };
    if (keeps(taken, template)) return { update: taken, collisionCount, writes: [] };
  }
}

function newRevision(set: StatefulSet, revision: Int64, collisionCount: number): Revision {
  const data = revisionData(set.spec?.template);
  const hash = revisionHash(data, collisionCount);
  const { namespace = "", annotations } = set.metadata;
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: revisionName(nameOf(set), hash),
      namespace,
      labels: { ...set.spec?.template.metadata?.labels, [HASH_LABEL]: hash },
      ...(annotations && { annotations }),
      ownerReferences: [ownedBy(set, KIND)],
    },
    data,
    revision,
  };
}

/** Unused revisions beyond the history limit. */
export function forgotten(
  set: StatefulSet,
  revisions: readonly Revision[],
  { current, update }: History,
  pods: readonly Pod[],
): readonly Write[] {
  const live = new Set([nameOf(current), nameOf(update), ...pods.map(revisionOf)]);
  return tooMany(revisions, set.spec?.revisionHistoryLimit ?? 10, (each) => live.has(nameOf(each))).map((object) => ({
    verb: "delete",
    resource: kinds.ControllerRevision,
    object,
  }));
}
