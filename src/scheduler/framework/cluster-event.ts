/**
 * Changes in the cluster that may make a rejected pod fit, and how plugins register for them.
 *
 * 1. An event wakes a pod only if a plugin that rejected the pod has it in `wakes` and its hint does not return "skip".
 * 2. A hint may err towards "queue" (a useless attempt), never towards "skip" (a pod that waits although it would fit).
 * 3. A hint that throws counts as "queue".
 */
import type { KubeObject } from "#api";
import type { PodInfo } from "./pod-info.ts";

export type EventResource =
  | "AssignedPod"
  /** A waiting pod other than the one that the hint is asked about. */
  | "UnscheduledPod"
  /** The pod that the hint is asked about. */
  | "TargetPod"
  | "Node"
  | "PersistentVolume"
  | "PersistentVolumeClaim"
  | "StorageClass"
  | "CSINode"
  | "CSIDriver"
  | "CSIStorageCapacity"
  | "VolumeAttachment"
  | "ResourceClaim"
  | "ResourceSlice"
  | "DeviceClass"
  | "DeviceTaintRule";

export type EventAction =
  | "add"
  | "delete"
  /** Of nodes. */
  | "allocatable"
  | "labels"
  | "taints"
  | "condition"
  | "annotation"
  | "declaredFeatures"
  /** Of pods, beside labels. */
  | "scaleDown"
  | "scaleUp"
  | "tolerations"
  | "gatesEliminated"
  /** A claim was made for the pod, and its name is in the status. */
  | "generatedResourceClaim"
  /** Any other change. */
  | "update";

export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: EventAction;
  /** Undefined if the object was added. */
  readonly old?: KubeObject | undefined;
  /** Undefined if the object was deleted. */
  readonly new?: KubeObject;
}

export interface Wake {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  /** Absent: every such event queues the pod. */
  readonly hint?: (pod: PodInfo, event: ClusterEvent) => "queue" | "skip";
  /**
   * The keys of the Pods that the event may concern, as the plugin's `wakeKeys` names them: the hint is asked for no
   * other Pod. Undefined or absent: every Pod.
   */
  readonly keys?: (event: ClusterEvent) => readonly string[] | undefined;
}

/** The event's name in metrics: `AssignedPodDelete`, `NodeUpdateNodeTaint`. */
export function eventLabel({ resource, action }: Pick<ClusterEvent, "resource" | "action">): string {
  return RESOURCE_NAMES[resource] + (resource === "Node" && action === "labels" ? NODE_LABELS : EVENT_NAMES[action]);
}

const RESOURCE_NAMES: Readonly<Record<EventResource, string>> = {
  AssignedPod: "AssignedPod",
  UnscheduledPod: "UnscheduledPod",
  TargetPod: "UnschedulablePod",
  Node: "Node",
  PersistentVolume: "PersistentVolume",
  PersistentVolumeClaim: "PersistentVolumeClaim",
  StorageClass: "storage.k8s.io/StorageClass",
  CSINode: "storage.k8s.io/CSINode",
  CSIDriver: "storage.k8s.io/CSIDriver",
  CSIStorageCapacity: "storage.k8s.io/CSIStorageCapacity",
  VolumeAttachment: "storage.k8s.io/VolumeAttachment",
  ResourceClaim: "resource.k8s.io/ResourceClaim",
  ResourceSlice: "resource.k8s.io/ResourceSlice",
  DeviceClass: "resource.k8s.io/DeviceClass",
  DeviceTaintRule: "resource.k8s.io/DeviceTaintRule",
};

const NODE_LABELS = "UpdateNodeLabel";

const EVENT_NAMES: Readonly<Record<EventAction, string>> = {
  add: "Add",
  delete: "Delete",
  allocatable: "UpdateNodeAllocatable",
  labels: "UpdatePodLabel",
  taints: "UpdateNodeTaint",
  condition: "UpdateNodeCondition",
  annotation: "UpdateNodeAnnotation",
  declaredFeatures: "UpdateNodeDeclaredFeature",
  scaleDown: "UpdatePodScaleDown",
  scaleUp: "UpdatePodScaleUp",
  tolerations: "UpdatePodToleration",
  gatesEliminated: "UpdatePodSchedulingGatesEliminated",
  generatedResourceClaim: "UpdatePodGeneratedResourceClaim",
  update: "Update",
};
