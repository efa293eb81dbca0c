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
import type { Image, RuntimeHandler } from "../runtime/runtime.ts";
import { hugePageResource } from "../topology/index.ts";

export type Amounts = Readonly<Record<string, string>>;

export interface Reserved {
  readonly kube: Amounts;
  readonly system: Amounts;
  /** Hard eviction thresholds by signal: quantities or percentages. */
  readonly evictionHard: Amounts;
}

export interface NodeReport {
  readonly machine: Pick<Machine, "machineId" | "systemUuid" | "bootId" | "kernelVersion" | "osImage" | "architecture">;
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  /** Undefined: they are somebody else's to write. */
  readonly addresses: readonly core.NodeAddress[] | undefined;
  readonly conditions: readonly OwnCondition[];
  readonly images: readonly core.ContainerImage[];
  /** Undefined: it has no server. */
  readonly kubeletPort?: number | undefined;
  /** For example `containerd://1.6.20`. */
  readonly runtimeVersion: string;
  readonly kubeletVersion: string;
  readonly runtimeHandlers: readonly RuntimeHandler[];
  readonly features?: core.NodeFeatures | undefined;
  /** What Pods may need of the node. Undefined: whatever is there stays. */
  readonly declaredFeatures?: readonly string[] | undefined;
  /** Undefined: the machine has no swap. */
  readonly swapBytes?: number | undefined;
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

/** The status is written this often even if nothing has changed. */
export const STATUS_HEARTBEAT_MS = 300_000;

export interface CapacityLimits {
  readonly maxPods: number;
  /** The most Pods for each CPU; 0: no such limit. */
  readonly podsPerCore?: number | undefined;
  /** Default: yes. */
  readonly localStorage?: boolean | undefined;
}

export function capacityOf(machine: Machine, limits: CapacityLimits): Amounts {
  const { cpus, memoryBytes, diskBytes, hugePages = new Map() } = machine;
  const { maxPods, podsPerCore = 0, localStorage = true } = limits;
  const sizes = [...new Map([...COMMON_PAGES, ...hugePages])].map(([kib, count]): [string, string] => [
    hugePageResource(kib),
    bytesText(kib * 1024 * count),
  ]);
  return {
    cpu: String(cpus),
    memory: `${Math.floor(memoryBytes / 1024)}Ki`,
    ...(localStorage && { "ephemeral-storage": `${Math.floor(diskBytes / 1024)}Ki` }),
    ...Object.fromEntries(sizes),
    pods: String(podsPerCore > 0 ? Math.min(maxPods, cpus * podsPerCore) : maxPods),
  };
}

/** Sizes that nodes of this architecture have, whether there are such pages or not. */
const COMMON_PAGES: ReadonlyMap<number, number> = new Map([
  [1024 ** 2, 0],
  [2048, 0],
]);

function bytesText(bytes: number): string {
  for (const [unit, size] of [
    ["Gi", 1024 ** 3],
    ["Mi", 1024 ** 2],
    ["Ki", 1024],
  ] as const)
    if (bytes > 0 && bytes % size === 0) return `${bytes / size}${unit}`;
  return String(bytes);
}

export function allocatableOf(capacity: Amounts, { kube, system, evictionHard }: Reserved): Amounts {
  const amount = (from: Amounts, name: string, scale: number) =>
    from[name] === undefined ? 0 : Number(scaledValue(parseQuantity(from[name]), scale));
  const left = (name: string, scale: number, more = 0) =>
    Math.max(0, amount(capacity, name, scale) - amount(kube, name, scale) - amount(system, name, scale) - more);
  const kept = (signal: string, name: string) => {
    const threshold = evictionHard[signal] ?? "0";
    if (!threshold.endsWith("%")) return amount({ [name]: threshold }, name, 0);
    return Math.floor((amount(capacity, name, 0) * Number(threshold.slice(0, -1))) / 100);
  };
  const milli = left("cpu", -3);
  const pages = Object.keys(capacity).filter((name) => name.startsWith("hugepages-"));
  // Huge pages are taken off the memory that other processes may use.
  const huge = pages.reduce((sum, name) => sum + amount(capacity, name, 0), 0);
  return {
    ...capacity,
    ...Object.fromEntries(pages.map((name) => [name, bytesText(left(name, 0))])),
    cpu: milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`,
    memory: `${Math.floor(left("memory", 0, kept("memory.available", "memory") + huge) / 1024)}Ki`,
    ...("ephemeral-storage" in capacity && {
      "ephemeral-storage": String(left("ephemeral-storage", 0, kept("nodefs.available", "ephemeral-storage"))),
    }),
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
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly providerId?: string | undefined;
  readonly report: NodeReport;
}

/** As it is created. */
export function newNode(options: NewNodeOptions, nowMs: number): core.Node {
  const { name, labels, taints = [], annotations, providerId, report } = options;
  return {
    metadata: {
      name,
      labels,
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true", ...annotations },
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
    ...(addresses !== undefined && { addresses }),
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
      ...(report.swapBytes !== undefined && { swap: { capacity: report.swapBytes } }),
    },
    ...(report.runtimeHandlers.length > 0 && { runtimeHandlers: report.runtimeHandlers.map(handlerStatus) }),
    ...(report.features !== undefined && { features: report.features }),
    ...declared(before, report),
    ...volumesInUse(before, report),
  };
}

function handlerStatus({ name, recursiveReadOnlyMounts, userNamespaces }: RuntimeHandler): core.NodeRuntimeHandler {
  if (recursiveReadOnlyMounts === undefined && userNamespaces === undefined) return { name };
  return {
    name,
    features: { recursiveReadOnlyMounts: recursiveReadOnlyMounts === true, userNamespaces: userNamespaces === true },
  };
}

/** Those of an earlier kubelet go with its gate: an empty list is written only to remove another one. */
function declared(before: core.NodeStatus, { declaredFeatures: own }: NodeReport): Partial<core.NodeStatus> {
  if (own === undefined || (own.length === 0 && (before.declaredFeatures ?? []).length === 0)) return {};
  return { declaredFeatures: [...own].sort() };
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
export function imageList(images: readonly Image[], most = 50): core.ContainerImage[] {
  return [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, most < 0 ? images.length : most)
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
