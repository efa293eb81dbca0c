/**
 * The owner graph: the metadata of every object by uid. `plan.ts` decides what follows from it.
 *
 * 1. An owner is found by its uid, and counts only if group, kind, name and namespace match the reference.
 * 2. A change returns the objects that have to be processed again: there is no search.
 */
import type { KubeObject, OwnerReference } from "#api";
import type { ResourceName } from "#client";

export const FOREGROUND_FINALIZER = "foregroundDeletion";
export const ORPHAN_FINALIZER = "orphan";

export interface Node {
  readonly resource: ResourceName;
  readonly object: KubeObject;
}

export class OwnerGraph {
  readonly #nodes = new Map<string, Node>();
  /** Uids of the objects that reference this uid as an owner, whether the owner exists or not. */
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  uids(): Iterable<string> {
    return this.#nodes.keys();
  }

  dependentsOf(uid: string): readonly Node[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#nodes.get(each) ?? []);
  }

  /** The owner of a reference, if it exists and matches. */
  ownerOf({ object }: Node, reference: OwnerReference): Node | undefined {
    const owner = this.#nodes.get(reference.uid);
    return owner !== undefined && isMeant(owner, reference, object) ? owner : undefined;
  }

  /** The objects to process after an object was added or updated. */
  set(node: Node): readonly string[] {
    const uid = uidOf(node.object);
    const old = this.#nodes.get(uid);
    if (old !== undefined && isSame(old.object, node.object)) {
      this.#nodes.set(uid, node);
      return [];
    }
    for (const { uid: owner } of ownersOf(old?.object)) this.#dependents.get(owner)?.delete(uid);
    this.#nodes.set(uid, node);
    for (const { uid: owner } of ownersOf(node.object)) {
      const dependents = this.#dependents.get(owner);
      if (dependents === undefined) this.#dependents.set(owner, new Set([uid]));
      else dependents.add(uid);
    }
    return [...this.#turnOf(node, old), ...ownersOf(old?.object).map(({ uid: owner }) => owner)];
  }

  /** The objects to process after an object was deleted. */
  delete(uid: string): readonly string[] {
    const old = this.#nodes.get(uid);
    if (old === undefined) return [];
    this.#nodes.delete(uid);
    for (const { uid: owner } of ownersOf(old.object)) {
      const dependents = this.#dependents.get(owner);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner);
    }
    return [...(this.#dependents.get(uid) ?? []), ...ownersOf(old.object).map(({ uid: owner }) => owner)];
  }

  *#turnOf(node: Node, old: Node | undefined): Iterable<string> {
    const uid = uidOf(node.object);
    const references = ownersOf(node.object);
    if (references.some((each) => this.ownerOf(node, each) === undefined || this.#waitsFor(each.uid))) yield uid;
    const begins = isEnding(node.object) && (old === undefined || !isEnding(old.object));
    if (!begins && old !== undefined && sameFinalizers(old.object, node.object)) return;
    if (holdsOrphans(node.object)) yield uid;
    if (waitsForDependents(node.object)) {
      yield uid;
      for (const { object } of this.dependentsOf(uid)) yield uidOf(object);
    }
  }

  #waitsFor(uid: string): boolean {
    const owner = this.#nodes.get(uid);
    return owner !== undefined && waitsForDependents(owner.object);
  }
}

export function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? "";
}

export function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

export function isEnding({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** In foreground deletion: it stays until its blocking dependents are gone. */
export function waitsForDependents(object: KubeObject): boolean {
  return isEnding(object) && hasFinalizer(object, FOREGROUND_FINALIZER);
}

/** It stays until its dependents are orphaned. */
export function holdsOrphans(object: KubeObject): boolean {
  return isEnding(object) && hasFinalizer(object, ORPHAN_FINALIZER);
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** Compares everything that the graph uses: most updates change something else. */
function isSame(a: KubeObject, b: KubeObject): boolean {
  return isEnding(a) === isEnding(b) && sameFinalizers(a, b) && sameOwners(ownersOf(a), ownersOf(b));
}

function sameOwners(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, at) => {
      const other = b[at];
      return (
        one.uid === other?.uid &&
        one.name === other.name &&
        one.kind === other.kind &&
        one.apiVersion === other.apiVersion &&
        one.blockOwnerDeletion === other.blockOwnerDeletion
      );
    })
  );
}

function sameFinalizers(a: KubeObject, b: KubeObject): boolean {
  const [before, now] = [a.metadata.finalizers ?? [], b.metadata.finalizers ?? []];
  return before.length === now.length && before.every((each, at) => each === now[at]);
}

function isMeant({ resource, object }: Node, reference: OwnerReference, dependent: KubeObject): boolean {
  return (
    resource.kind === reference.kind &&
    groupOf(resource.apiVersion) === groupOf(reference.apiVersion) &&
    object.metadata.name === reference.name &&
    (!resource.namespaced || object.metadata.namespace === dependent.metadata.namespace)
  );
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}
