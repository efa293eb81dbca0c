/** What the cluster has, as invariants see it: the store's objects, at the moment. */
import type { apps, batch, core, KubeObject, policy } from "#api";
import type { Objects } from "./seen-store.ts";

interface Kinds {
  readonly Pod: core.Pod;
  readonly Node: core.Node;
  readonly Deployment: apps.Deployment;
  readonly ReplicaSet: apps.ReplicaSet;
  readonly StatefulSet: apps.StatefulSet;
  readonly Job: batch.Job;
  readonly PodDisruptionBudget: policy.PodDisruptionBudget;
  readonly ResourceQuota: core.ResourceQuota;
  readonly Service: core.Service;
  readonly Endpoints: core.Endpoints;
  readonly Namespace: core.Namespace;
}

export class World {
  readonly #objects: Objects;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** All objects. */
  all(): Iterable<KubeObject> {
    return this.#objects.values();
  }

  of<K extends keyof Kinds>(kind: K): readonly Kinds[K][];
  of(kind: string): readonly KubeObject[];
  of(kind: string): readonly KubeObject[] {
    const found: KubeObject[] = [];
    for (const object of this.#objects.values()) if (object.kind === kind) found.push(object);
    return found;
  }

  withUid(uid: string): KubeObject | undefined {
    for (const object of this.#objects.values()) if (object.metadata.uid === uid) return object;
    return undefined;
  }

  /** The Pods that this object controls. */
  podsOf({ metadata: { uid } }: KubeObject): readonly core.Pod[] {
    return this.of("Pod").filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
    );
  }
}

export function isReady({ status }: core.Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

export function isOver({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isEnding({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** `Pod shop/web-1`. */
export function nameOf({ kind = "", metadata: { namespace, name = "" } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
