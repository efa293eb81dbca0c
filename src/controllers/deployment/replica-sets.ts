/** The ReplicaSets of a Deployment: which is the new one, their order and counts, and how a new one is created. */
import { addInt64, type core, equalJson, type Int64, type Json, type KubeObject } from "#api";
import { ownedBy } from "../runtime/index.ts";
import { templateHash } from "../template-hash/index.ts";
import { newSetAnnotations, type ReplicaSet, revisionOf, sizeAnnotations } from "./annotations.ts";
import type { Deployment } from "./limits.ts";

export const HASH_LABEL = "pod-template-hash";

/** `new` has the current template; `old` are all others. */
export interface Generations {
  readonly new: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** If several have the template, the oldest is the new one. */
export function generationsOf(deployment: Deployment, sets: readonly ReplicaSet[]): Generations {
  const found = byAge(sets).find(({ spec }) => sameTemplate(spec?.template, deployment.spec?.template));
  return { new: found, old: sets.filter((set) => set !== found) };
}

/** Equal except for the pod-template-hash label. */
export function sameTemplate(a: core.PodTemplateSpec | undefined, b: core.PodTemplateSpec | undefined): boolean {
  return equalJson(withoutHash(a), withoutHash(b));
}

function withoutHash(template: core.PodTemplateSpec | undefined): Json {
  const { [HASH_LABEL]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } } as unknown as Json;
}

/** The ReplicaSet for a template, with size 0. */
export function newReplicaSet(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const hash = templateHash(spec?.template, status?.collisionCount);
  const labels = { ...spec?.template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace ?? "",
      labels,
      annotations: {
        ...newSetAnnotations(deployment, {}, nextRevision(old)),
        ...sizeAnnotations(deployment),
      },
      ownerReferences: [ownedBy(deployment, { apiVersion: "apps/v1", kind: "Deployment" })],
    },
    spec: {
      replicas: 0,
      ...((spec?.minReadySeconds ?? 0) > 0 && { minReadySeconds: spec?.minReadySeconds ?? 0 }),
      selector: { ...spec?.selector, matchLabels: { ...spec?.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec?.template, metadata: { ...spec?.template.metadata, labels } },
    },
  };
}

export function nextRevision(old: readonly ReplicaSet[]): Int64 {
  const last = old.map(revisionOf).reduce((most, each) => (each > most ? each : most), 0);
  return addInt64(last, 1);
}

/** Its desired Pods. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

/** Present or expected Pods: until its controller has observed a smaller size, a ReplicaSet still has its old Pods. */
export function podsOf(set: ReplicaSet): number {
  return Math.max(sizeOf(set), set.status?.replicas ?? 0);
}

/** Available Pods that stay: a ReplicaSet that was just scaled down may still count Pods that it is about to delete. */
export function availableOf(set: ReplicaSet): number {
  return Math.min(sizeOf(set), set.status?.availableReplicas ?? 0);
}

export function isActive(set: ReplicaSet): boolean {
  return sizeOf(set) > 0;
}

export function total(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number {
  return sets.reduce((sum, set) => sum + count(set), 0);
}

export function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? "";
}

/** Oldest first. */
export function byAge(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return [...sets].sort(compareAge);
}

export function compareAge(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compare(a.metadata.creationTimestamp ?? "9999", b.metadata.creationTimestamp ?? "9999") ||
    compare(nameOf(a), nameOf(b))
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
