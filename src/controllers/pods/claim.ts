/**
 * Which objects belong to an owner: those that it controls and selects, and orphans that it selects.
 *
 * 1. A terminating owner adopts nothing, and terminating objects are not adopted.
 * 2. Before an adoption is written, the API server is asked for the owner: the cache may show an owner that is gone,
 *    and what it adopted would be deleted with it. Such an owner does not replace missing objects either.
 */
import { isStatusError, type JsonObject, type KubeObject, type LabelMatcher } from "#api";
import type { Client } from "#client";
import { type AnyResource, controllerOf, ownedBy, type Write } from "../runtime/index.ts";

export interface Claim<T extends KubeObject> {
  /** Objects that already belong to the owner. */
  readonly owned: readonly T[];
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

export function claim<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelMatcher,
  candidates: Iterable<T>,
  mayAdopt: (object: T) => boolean = () => true,
): Claim<T> {
  const owned: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  const ends = owner.metadata.deletionTimestamp !== undefined;
  for (const each of candidates) {
    const { labels, deletionTimestamp } = each.metadata;
    const controller = controllerOf(each);
    const fits = selector.matches(labels ?? {});
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (fits || ends) owned.push(each);
      else release.push(each);
    } else if (fits && !ends && deletionTimestamp === undefined && mayAdopt(each)) adopt.push(each);
  }
  return { owned, adopt, release };
}

export function adoption(
  resource: AnyResource,
  object: KubeObject,
  owner: KubeObject,
  ownerKind: { apiVersion: string; kind: string },
): Write {
  const reference = ownedBy(owner, ownerKind) as unknown as JsonObject;
  const patch = { metadata: { ownerReferences: [reference], uid: object.metadata.uid ?? "" } };
  return { verb: "patch", resource, object, type: "strategic", patch };
}

export function release(resource: AnyResource, object: KubeObject, owner: KubeObject): Write {
  const reference = { $patch: "delete", uid: owner.metadata.uid ?? "" };
  const patch = { metadata: { ownerReferences: [reference], uid: object.metadata.uid ?? "" } };
  return { verb: "patch", resource, object, type: "strategic", patch };
}

/** Whether the API server still has this owner, by uid, and it is not terminating. */
export async function isStillThere(client: Client, resource: AnyResource, owner: KubeObject): Promise<boolean> {
  const { name = "", namespace, uid } = owner.metadata;
  const all = client.of<KubeObject>(resource);
  try {
    const { metadata } = await (namespace === undefined ? all : all.in(namespace)).get(name);
    return metadata.uid === uid && metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") return false;
    throw error;
  }
}
