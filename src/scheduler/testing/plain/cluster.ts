/**
 * Input and output of a plain decision.
 *
 * 1. Everything is an API object: no cache, no index, no state. Each question looks at all objects again.
 * 2. Amounts are bigints, so that nothing is rounded where kube-scheduler has integers.
 */
import type { apps, core, storage } from "#api";
import type { PluginArguments } from "../../framework/index.ts";

export interface PlainCluster {
  readonly nodes: readonly core.Node[];
  /** Placed Pods; others are ignored. */
  readonly pods: readonly core.Pod[];
  readonly namespaces?: readonly core.Namespace[];
  readonly services?: readonly core.Service[];
  readonly replicationControllers?: readonly core.ReplicationController[];
  readonly replicaSets?: readonly apps.ReplicaSet[];
  readonly statefulSets?: readonly apps.StatefulSet[];
  readonly persistentVolumeClaims?: readonly core.PersistentVolumeClaim[];
  readonly persistentVolumes?: readonly core.PersistentVolume[];
  readonly storageClasses?: readonly storage.StorageClass[];
  readonly csiNodes?: readonly storage.CSINode[];
  readonly csiDrivers?: readonly storage.CSIDriver[];
  readonly csiStorageCapacities?: readonly storage.CSIStorageCapacity[];
  readonly volumeAttachments?: readonly storage.VolumeAttachment[];
}

export interface PlainFailure {
  /** The reasons of kube-scheduler. */
  readonly reasons: readonly string[];
  /** Evicting Pods from the node would not help. */
  readonly unresolvable: boolean;
}

export interface PlainQuestion {
  readonly pod: core.Pod;
  readonly cluster: PlainCluster;
  readonly args: PluginArguments;
}

export interface PlainPlugin {
  readonly name: string;
  /** Rejections of the Pod that are independent of nodes. */
  preFilter?(question: PlainQuestion): PlainFailure | undefined;
  filter?(question: PlainQuestion, node: core.Node): PlainFailure | undefined;
  /** Scores from 0 to 100 of the nodes that passed; undefined if the plugin does not apply. */
  score?(question: PlainQuestion, feasible: readonly core.Node[]): ReadonlyMap<string, number> | undefined;
}

export const MAX_NODE_SCORE = 100;

export function unschedulable(...reasons: readonly string[]): PlainFailure {
  return { reasons, unresolvable: false };
}

export function unresolvable(...reasons: readonly string[]): PlainFailure {
  return { reasons, unresolvable: true };
}

export function nameOf(node: core.Node): string {
  return node.metadata.name ?? "";
}

export function labelsOf(object: core.Node | core.Pod | core.Namespace): Readonly<Record<string, string>> {
  return object.metadata.labels ?? {};
}

/** Finished Pods hold no resources. */
export function podsOn(cluster: PlainCluster, node: core.Node): readonly core.Pod[] {
  return cluster.pods.filter((pod) => pod.spec?.nodeName === nameOf(node) && !hasEnded(pod));
}

export function hasEnded({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** Each node's own score, as a map. */
export function scoresOf(nodes: readonly core.Node[], score: (node: core.Node) => number): ReadonlyMap<string, number> {
  return new Map(nodes.map((node) => [nameOf(node), score(node)]));
}

/** From [0, highest] to [0, 100]; `reversed`, the lowest becomes 100. */
export function normalised(scores: ReadonlyMap<string, number>, reversed: boolean): ReadonlyMap<string, number> {
  const highest = Math.max(0, ...scores.values());
  const scale = (score: number) => (highest === 0 ? 0 : Math.trunc((MAX_NODE_SCORE * score) / highest));
  return new Map([...scores].map(([name, score]) => [name, reversed ? MAX_NODE_SCORE - scale(score) : scale(score)]));
}
