/**
 * The revisions of a DaemonSet: the current one, whose hash labels new Pods, and former ones.
 *
 * 1. The current revision has the highest number.
 * 2. If several revisions have the same template, the one with the highest number stays, and Pods of the others are
 *    relabelled.
 */
import { type Int64, kinds } from "#api";
import { inOrder, keeps, nextNumber, type Revision, revisionData, tooMany } from "../controller-history/index.ts";
import type { Pod } from "../pods/index.ts";
import { ownedBy, type Write } from "../runtime/index.ts";
import { templateHash } from "../template-hash/index.ts";
import { type DaemonSet, HASH_LABEL, KIND, nameOf } from "./daemon-pod.ts";

export interface History {
  readonly current: Revision;
  readonly old: readonly Revision[];
  /** Steps of writes. */
  readonly steps: readonly (readonly Write[])[];
}

/** `find`: the revision of this name, whatever its owner. Undefined: the name is taken by another object. */
export function historyOf(
  set: DaemonSet,
  revisions: readonly Revision[],
  pods: readonly Pod[],
  find: (name: string) => Revision | undefined,
): History | undefined {
  const ordered = inOrder(revisions);
  const template = set.spec?.template;
  const same = ordered.filter((each) => keeps(each, template));
  const old = ordered.filter((each) => !same.includes(each));
  const number = nextNumber(old);
  const kept = same.at(-1);
  if (kept === undefined) {
    const current = newRevision(set, number);
    const taken = find(nameOf(current));
    if (taken !== undefined) return keeps(taken, template) ? { current: taken, old, steps: [] } : undefined;
    return { current, old, steps: [[{ verb: "create", resource: kinds.ControllerRevision, object: current }]] };
  }
  const current = { ...kept, revision: kept.revision < number ? number : kept.revision, ...labelled(kept) };
  const duplicates = same.slice(0, -1);
  return {
    current,
    old,
    steps: [
      hashOf(kept) === undefined || kept.revision < number
        ? [{ verb: "update", resource: kinds.ControllerRevision, object: current }]
        : [],
      relabelled(pods, duplicates, hashOf(current) ?? ""),
      duplicates.map((object) => ({ verb: "delete", resource: kinds.ControllerRevision, object })),
    ],
  };
}

export function hashOf({ metadata }: Revision | Pod): string | undefined {
  return metadata.labels?.[HASH_LABEL];
}

/** Former revisions without Pods beyond the history limit. */
export function forgotten(set: DaemonSet, old: readonly Revision[], pods: readonly Pod[]): readonly Write[] {
  const live = new Set(pods.map(hashOf).filter((hash) => hash !== undefined));
  const isLive = (revision: Revision) => live.has(hashOf(revision) ?? nameOf(revision));
  const excess = old.length - (set.spec?.revisionHistoryLimit ?? 10);
  return tooMany(old, 0, isLive)
    .slice(0, Math.max(0, excess))
    .map((object) => ({ verb: "delete", resource: kinds.ControllerRevision, object }));
}

function newRevision(set: DaemonSet, revision: Int64): Revision {
  const hash = templateHash(set.spec?.template, set.status?.collisionCount);
  const { namespace = "", annotations } = set.metadata;
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${nameOf(set)}-${hash}`,
      namespace,
      labels: { ...set.spec?.template.metadata?.labels, [HASH_LABEL]: hash },
      ...(annotations && { annotations }),
      ownerReferences: [ownedBy(set, KIND)],
    },
    data: revisionData(set.spec?.template),
    revision,
  };
}

/** A revision without the label was created by hand: its name is used. */
function labelled(revision: Revision): Pick<Revision, "metadata"> {
  const { labels } = revision.metadata;
  const hash = hashOf(revision) ?? nameOf(revision);
  return { metadata: { ...revision.metadata, labels: { ...labels, [HASH_LABEL]: hash } } };
}

function relabelled(pods: readonly Pod[], duplicates: readonly Revision[], hash: string): readonly Write[] {
  const hashes = new Set(duplicates.map(hashOf));
  return pods
    .filter((pod) => hashes.has(hashOf(pod)) && hashOf(pod) !== undefined)
    .map((object) => ({
      verb: "patch",
      resource: kinds.Pod,
      object,
      patch: { metadata: { labels: { [HASH_LABEL]: hash } } },
    }));
}
