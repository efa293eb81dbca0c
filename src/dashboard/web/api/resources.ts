/** Resources that the page knows by name, and the paths of objects. */
import type { ObjectPlace } from "../route.ts";

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function resource(group: string, version: string, plural: string, kind: string, namespaced = true): Resource {
  return { group, version, plural, kind, namespaced };
}

const RBAC = "rbac.authorization.k8s.io";
const STORAGE = "storage.k8s.io";
const DEVICES = "resource.k8s.io";

export const PODS = resource("", "v1", "pods", "Pod");
export const NODES = resource("", "v1", "nodes", "Node", false);
export const NAMESPACES = resource("", "v1", "namespaces", "Namespace", false);
export const SECRETS = resource("", "v1", "secrets", "Secret");
export const EVENTS = resource("", "v1", "events", "Event");
export const DEPLOYMENTS = resource("apps", "v1", "deployments", "Deployment");
export const STATEFUL_SETS = resource("apps", "v1", "statefulsets", "StatefulSet");
export const DAEMON_SETS = resource("apps", "v1", "daemonsets", "DaemonSet");
export const REPLICA_SETS = resource("apps", "v1", "replicasets", "ReplicaSet");
export const JOBS = resource("batch", "v1", "jobs", "Job");
export const CRON_JOBS = resource("batch", "v1", "cronjobs", "CronJob");
export const ROLES = resource(RBAC, "v1", "roles", "Role");
export const CLUSTER_ROLES = resource(RBAC, "v1", "clusterroles", "ClusterRole", false);
export const ROLE_BINDINGS = resource(RBAC, "v1", "rolebindings", "RoleBinding");
export const CLUSTER_ROLE_BINDINGS = resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", false);

export const AUTOSCALERS = resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler");
export const CLAIMS = resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim");
export const VOLUMES = resource("", "v1", "persistentvolumes", "PersistentVolume", false);
export const STORAGE_CLASSES = resource(STORAGE, "v1", "storageclasses", "StorageClass", false);
export const ATTACHMENTS = resource(STORAGE, "v1", "volumeattachments", "VolumeAttachment", false);
export const CSI_NODES = resource(STORAGE, "v1", "csinodes", "CSINode", false);
export const CSI_CAPACITIES = resource(STORAGE, "v1", "csistoragecapacities", "CSIStorageCapacity");
export const SNAPSHOTS = resource("snapshot.storage.k8s.io", "v1", "volumesnapshots", "VolumeSnapshot");

export const SLICES = resource(DEVICES, "v1", "resourceslices", "ResourceSlice", false);
export const DEVICE_CLAIMS = resource(DEVICES, "v1", "resourceclaims", "ResourceClaim");

export const KNOWN: readonly Resource[] = [
  PODS,
  NODES,
  NAMESPACES,
  SECRETS,
  EVENTS,
  DEPLOYMENTS,
  STATEFUL_SETS,
  DAEMON_SETS,
  REPLICA_SETS,
  JOBS,
  CRON_JOBS,
  ROLES,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  CLUSTER_ROLE_BINDINGS,
  AUTOSCALERS,
  CLAIMS,
  VOLUMES,
  STORAGE_CLASSES,
  ATTACHMENTS,
  CSI_NODES,
  CSI_CAPACITIES,
  SNAPSHOTS,
  SLICES,
  DEVICE_CLAIMS,
];

export function listPath({ group, version, plural, namespaced }: Resource, namespace: string): string {
  const inside = namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${basePath(group, version)}${inside}/${plural}`;
}

export function objectPath({ group, version, plural, namespace, name }: ObjectPlace): string {
  const inside = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${basePath(group, version)}${inside}/${plural}/${encodeURIComponent(name)}`;
}

function basePath(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

export interface Named {
  readonly metadata?: { readonly name?: string; readonly namespace?: string } | undefined;
}

export function placeOf({ group, version, plural }: Resource, { metadata }: Named): ObjectPlace {
  return { group, version, plural, namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

/** The path of a referenced object, if the page knows its kind. */
export function referredPlace(
  reference: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string },
  namespace: string,
): ObjectPlace | undefined {
  const known = KNOWN.find(
    ({ kind, group }) => kind === reference.kind && group === groupOf(reference.apiVersion ?? ""),
  );
  if (known === undefined || reference.name === undefined) return undefined;
  const { group, version, plural, namespaced } = known;
  return { group, version, plural, namespace: namespaced ? namespace : "", name: reference.name };
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? (apiVersion.split("/", 1)[0] ?? "") : "";
}
