/**
 * What the garbage collector does with one object.
 *
 *     terminating, with the finalizer "orphan"        orphan its dependents, then remove the finalizer
 *     terminating, with "foregroundDeletion"          remove the finalizer once no dependent blocks it
 *     no owner is left                                delete it, with the policy that its own finalizers imply
 *     all owners wait for their dependents            delete it, in the foreground if it has dependents itself
 *     some owners are left                            remove the references to the others
 */
import type { JsonObject, KubeObject, OwnerReference } from "#api";
import type { Plan, Write } from "../runtime/index.ts";
import {
  FOREGROUND_FINALIZER,
  hasFinalizer,
  holdsOrphans,
  isEnding,
  type Node,
  ORPHAN_FINALIZER,
  type OwnerGraph,
  ownersOf,
  uidOf,
  waitsForDependents,
} from "./graph.ts";

/** Whether an owner that is not in the graph is really absent. */
export type IsAbsent = (reference: OwnerReference, dependent: Node) => Promise<boolean>;

/** `look`: uids to process next. */
export async function planFor(
  uid: string,
  graph: OwnerGraph,
  isAbsent: IsAbsent,
): Promise<{ readonly plan?: Plan; readonly look?: readonly string[] }> {
  const node = graph.get(uid);
  if (node === undefined) return {};
  if (holdsOrphans(node.object)) return { plan: setFree(node, graph.dependentsOf(uid)) };
  if (waitsForDependents(node.object)) return finishForeground(node, graph);
  if (isEnding(node.object) || ownersOf(node.object).length === 0) return {};
  return { plan: await followOwners(node, graph, isAbsent) };
}

function setFree(node: Node, dependents: readonly Node[]): Plan {
  const uid = uidOf(node.object);
  return {
    steps: [dependents.map((each) => withoutOwners(each, new Set([uid]))), [withoutFinalizer(node, ORPHAN_FINALIZER)]],
  };
}

function finishForeground(node: Node, graph: OwnerGraph): { plan?: Plan; look?: readonly string[] } {
  const uid = uidOf(node.object);
  const blocking = graph.dependentsOf(uid).filter(({ object }) => blocks(object, uid));
  if (blocking.length === 0) return { plan: { steps: [[withoutFinalizer(node, FOREGROUND_FINALIZER)]] } };
  return { look: blocking.filter(({ object }) => !isEnding(object)).map(({ object }) => uidOf(object)) };
}

async function followOwners(node: Node, graph: OwnerGraph, isAbsent: IsAbsent): Promise<Plan> {
  const solid: OwnerReference[] = [];
  const waiting: OwnerReference[] = [];
  const absent: OwnerReference[] = [];
  for (const reference of ownersOf(node.object)) {
    const owner = graph.ownerOf(node, reference);
    if (owner !== undefined) {
      const waits = waitsForDependents(owner.object) && reference.blockOwnerDeletion === true;
      (waits ? waiting : solid).push(reference);
    } else (await isAbsent(reference, node)) ? absent.push(reference) : solid.push(reference);
  }
  if (solid.length > 0) {
    const gone = new Set([...waiting, ...absent].map(({ uid }) => uid));
    return gone.size === 0 ? {} : { steps: [[withoutOwners(node, gone)]] };
  }
  const dependents = graph.dependentsOf(uidOf(node.object));
  if (waiting.length > 0 && dependents.length > 0) {
    // A cycle of blocking owners would never end.
    const circle = dependents.some(({ object }) => waitsForDependents(object));
    return {
      steps: [...(circle ? [[withoutBlocking(node)]] : []), [deletion(node, "Foreground", circle)]],
    };
  }
  if (hasFinalizer(node.object, ORPHAN_FINALIZER)) return { steps: [[deletion(node, "Orphan")]] };
  if (hasFinalizer(node.object, FOREGROUND_FINALIZER)) return { steps: [[deletion(node, "Foreground")]] };
  return { steps: [[deletion(node, "Background")]] };
}

function blocks(object: KubeObject, owner: string): boolean {
  return ownersOf(object).some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true);
}

/** With a precondition on resourceVersion: an owner may have been added since. */
function deletion(
  { resource, object }: Node,
  propagationPolicy: "Orphan" | "Background" | "Foreground",
  changed = false,
): Write {
  return { verb: "delete", resource, object, propagationPolicy, unchanged: !changed };
}

function withoutOwners({ resource, object }: Node, gone: ReadonlySet<string>): Write {
  const left = ownersOf(object).filter(({ uid }) => !gone.has(uid));
  return patch(resource, object, { ownerReferences: left.length === 0 ? null : left });
}

function withoutBlocking({ resource, object }: Node): Write {
  return patch(resource, object, {
    ownerReferences: ownersOf(object).map((owner) => ({ ...owner, blockOwnerDeletion: false })),
  });
}

function withoutFinalizer({ resource, object }: Node, finalizer: string): Write {
  const left = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  return patch(resource, object, { finalizers: left.length === 0 ? null : left });
}

/** The whole list with a precondition: lists of custom resources cannot be patched by item. */
function patch(resource: Node["resource"], object: KubeObject, metadata: object): Write {
  const { uid, resourceVersion } = object.metadata;
  return {
    verb: "patch",
    resource,
    object,
    type: "merge",
    patch: { metadata: { uid, resourceVersion, ...metadata } } as unknown as JsonObject,
  };
}
