/**
 * The Node object as its kubelet writes it. Pure; kubelets and the nodes of a fleet use it alike.
 *
 * 1. A report holds only what is the kubelet's own. Extended resources that others have added to the capacity stay, and
 *    become allocatable; those that are no longer in the capacity cease to be.
 * 2. A condition keeps its lastTransitionTime while its status stays the same.
 */
import { type core, equalJson, isExtendedResource, type Json, type JsonObject, parseQuantity, scaledValue } from "#api";
import type { Machine } from "../host/index.ts";
import { timestamp } from "../pod-status/index.ts";
import type { Image } from "../runtime/runtime.ts";

export type Amounts = Readonly<Record<string, string>>;

export interface Reserved {
  readonly kube: Amounts;
  readonly system: Amounts;
  /** The eviction threshold for memory: a quantity or a percentage. */
  readonly evictionMemory: string;
}

export interface NodeReport {
  readonly machine: Pick<Machine, "machineId" | "systemUuid" | "bootId" | "kernelVersion" | "osImage" | "architecture">;
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly addresses: readonly core.NodeAddress[];
  readonly conditions: readonly OwnCondition[];
  readonly images: readonly core.ContainerImage[];
  /** Undefined: it has no server. */
  readonly kubeletPort?: number | undefined;
  /** For example `containerd://1.6.20`. */
  readonly runtimeVersion: string;
  readonly kubeletVersion: string;
  readonly runtimeHandlers: readonly string[];
  readonly features?: core.NodeFeatures | undefined;
  /** The attachable volumes that its Pods use, by name. Undefined: it does not report them. */
  readonly volumesInUse?: readonly string[] | undefined;
}

/** A condition that is the kubelet's own, without its times. */
export interface OwnCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

const MAX_IMAGES = 50;
/** The status is written this often even if nothing has changed. */
export const STATUS_HEARTBEAT_MS = 300_000;

export function capacityOf({ cpus, memoryBytes, diskBytes }: Machine, maxPods: number): Amounts {
  return {
    cpu: String(cpus),
    memory: `${Math.floor(memoryBytes / 1024)}Ki`,
    "ephemeral-storage": `${Math.floor(diskBytes / 1024)}Ki`,
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    pods: String(maxPods),
  };
}

export function allocatableOf(capacity: Amounts, { kube, system, evictionMemory }: Reserved): Amounts {
  const amount = (from: Amounts, name: string, scale: number) =>
    from[name] === undefined ? 0 : Number(scaledValue(parseQuantity(from[name]), scale));
  const left = (name: string, scale: number, more = 0) =>
    Math.max(0, amount(capacity, name, scale) - amount(kube, name, scale) - amount(system, name, scale) - more);
  const kept = evictionMemory.endsWith("%")
    ? (amount(capacity, "memory", 0) * Number(evictionMemory.slice(0, -1))) / 100
    : amount({ memory: evictionMemory }, "memory", 0);
  const milli = left("cpu", -3);
  return {
    ...capacity,
    cpu: milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`,
    memory: `${Math.floor(left("memory", 0, kept) / 1024)}Ki`,
    "ephemeral-storage": String(left("ephemeral-storage", 0)),
  };
}

export function nodeLabels(nodeName: string, architecture: string, own: Amounts): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": architecture,
    "kubernetes.io/hostname": nodeName,
    "kubernetes.io/os": "linux",
    ...own,
  };
}

export interface NewNodeOptions {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints?: readonly core.Taint[] | undefined;
  readonly providerId?: string | undefined;
  readonly report: NodeReport;
}

/** As it is created. */
export function newNode(options: NewNodeOptions, nowMs: number): core.Node {
  const { name, labels, taints = [], providerId, report } = options;
  return {
    metadata: {
      name,
      labels,
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: { ...(taints.length > 0 && { taints }), ...(providerId !== undefined && { providerID: providerId }) },
    status: nodeStatus({}, report, nowMs),
  };
}

/** The labels that the node lacks; undefined if it has them all. */
export function missingLabels(
  { metadata }: core.Node,
  labels: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const missing = Object.entries(labels).filter(([key, value]) => metadata.labels?.[key] !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

export function nodeAddresses(nodeName: string, ips: readonly string[]): readonly core.NodeAddress[] {
  return [...ips.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: nodeName }];
}

export function nodeStatus(before: core.NodeStatus, report: NodeReport, nowMs: number): core.NodeStatus {
  const { machine, capacity, allocatable, addresses, kubeletPort, runtimeVersion, kubeletVersion } = report;
  return {
    capacity,
    allocatable: { ...extendedOf(before.capacity), ...allocatable },
    addresses,
    conditions: report.conditions.map((condition) => dated(condition, before, nowMs)),
    ...(kubeletPort !== undefined && { daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } } }),
    images: report.images,
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: machine.architecture,
    },
    ...(report.runtimeHandlers.length > 0 && { runtimeHandlers: report.runtimeHandlers.map((name) => ({ name })) }),
    ...(report.features !== undefined && { features: report.features }),
    ...volumesInUse(before, report),
  };
}

/** An empty list is written only to remove another one. */
function volumesInUse(before: core.NodeStatus, { volumesInUse: names }: NodeReport): Partial<core.NodeStatus> {
  const hasAny = (names ?? []).length > 0 || (before.volumesInUse ?? []).length > 0;
  return names === undefined || !hasAny ? {} : { volumesInUse: [...names].sort() };
}

function extendedOf(capacity: Amounts = {}): Amounts {
  return Object.fromEntries(Object.entries(capacity).filter(([name]) => isExtendedResource(name)));
}

function dated(condition: OwnCondition, { conditions = [] }: core.NodeStatus, nowMs: number): core.NodeCondition {
  const now = timestamp(nowMs);
  const old = conditions.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  return { ...condition, lastHeartbeatTime: now, lastTransitionTime: since };
}

/** The largest first. */
export function imageList(images: readonly Image[]): core.ContainerImage[] {
  return [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, MAX_IMAGES)
    .map(({ repoDigests, repoTags, sizeBytes }) => ({ names: [...repoDigests, ...repoTags], sizeBytes }));
}

/** A strategic merge patch of the status; undefined if nothing but the time has changed. */
export function nodeStatusPatch(
  before: core.NodeStatus,
  after: core.NodeStatus,
  isHeartbeatDue: boolean,
): JsonObject | undefined {
  const changed: Record<string, Json> = {};
  for (const [name, value] of Object.entries(after) as [keyof core.NodeStatus, Json][]) {
    if (name === "conditions") continue;
    const old = (before[name] ?? null) as Json | null;
    if (name === "capacity" || name === "allocatable") {
      const amounts = changedAmounts(old as Amounts | null, value as Amounts, name === "allocatable");
      if (Object.keys(amounts).length > 0) changed[name] = amounts;
    } else if (!equalJson(old ?? emptyLike(value), value)) {
      changed[name] = name === "addresses" ? [...(value as Json[]), { $patch: "replace" }] : value;
    }
  }
  const isSame = (next: core.NodeCondition) => {
    const old = before.conditions?.find(({ type }) => type === next.type);
    return old?.status === next.status && old.reason === next.reason && old.message === next.message;
  };
  const conditions = (after.conditions ?? []).filter((next) => isHeartbeatDue || !isSame(next));
  if (conditions.length > 0) changed.conditions = conditions as unknown as Json[];
  return Object.keys(changed).length === 0 ? undefined : { status: changed };
}

/** The server leaves out empty lists: one that is absent is no other than an empty one. */
function emptyLike(value: Json): Json {
  return Array.isArray(value) ? [] : null;
}

/** With `removes`, extended resources that are gone are removed. */
function changedAmounts(before: Amounts | null, after: Amounts, removes: boolean): JsonObject {
  const gone = removes ? Object.keys(before ?? {}).filter((name) => isExtendedResource(name) && !(name in after)) : [];
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(after).filter(([name, amount]) => before?.[name] !== amount)),
  };
}
