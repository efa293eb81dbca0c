/**
 * The Node as its kubelet tells it. Pure.
 *
 * 1. Of capacity and allocatable only what the kubelet knows is told: resources that others have put there stay.
 * 2. A condition keeps its lastTransitionTime while its status stays the same.
 */
import { type core, equalJson, type Json, type JsonObject, parseQuantity, scaledValue } from "#api";
import type { Machine } from "../host/index.ts";
import { timestamp } from "../pod-status/index.ts";
import type { Image } from "../runtime/runtime.ts";

export type Amounts = Readonly<Record<string, string>>;

export interface Reserved {
  readonly kube: Amounts;
  readonly system: Amounts;
  /** What is kept free by eviction: an amount, or a part such as 5%. */
  readonly evictionMemory: string;
}

export interface NodeReport {
  readonly machine: Machine;
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly addresses: readonly core.NodeAddress[];
  readonly conditions: readonly Told[];
  readonly images: readonly core.ContainerImage[];
  readonly kubeletPort: number;
  /** Such as `containerd://1.6.20`. */
  readonly runtimeVersion: string;
  readonly kubeletVersion: string;
  readonly runtimeHandlers: readonly string[];
}

export interface Told {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

const MAX_IMAGES = 50;

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

export function nodeAddresses(nodeName: string, ips: readonly string[]): readonly core.NodeAddress[] {
  return [...ips.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: nodeName }];
}

export function nodeStatus(before: core.NodeStatus, report: NodeReport, nowMs: number): core.NodeStatus {
  const { machine, capacity, allocatable, addresses, kubeletPort, runtimeVersion, kubeletVersion } = report;
  return {
    capacity,
    allocatable,
    addresses,
    conditions: report.conditions.map((told) => dated(told, before, nowMs)),
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
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
  };
}

function dated(told: Told, { conditions = [] }: core.NodeStatus, nowMs: number): core.NodeCondition {
  const now = timestamp(nowMs);
  const old = conditions.find(({ type }) => type === told.type);
  const since = old?.status === told.status ? (old.lastTransitionTime ?? now) : now;
  return { ...told, lastHeartbeatTime: now, lastTransitionTime: since };
}

/** The largest first. */
export function imageList(images: readonly Image[]): core.ContainerImage[] {
  return [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, MAX_IMAGES)
    .map(({ repoDigests, repoTags, sizeBytes }) => ({ names: [...repoDigests, ...repoTags], sizeBytes }));
}

/** A strategic merge patch of the status; undefined if there is nothing to say but the time. */
export function nodeStatusPatch(
  before: core.NodeStatus,
  after: core.NodeStatus,
  isHeartbeatDue: boolean,
): JsonObject | undefined {
  const changed: Record<string, Json> = {};
  for (const [name, value] of Object.entries(after) as [keyof core.NodeStatus, Json][]) {
    if (name === "conditions") continue;
    const old = (before[name] ?? null) as Json;
    if (name === "capacity" || name === "allocatable") {
      const news = Object.entries(value as JsonObject).filter(
        ([key, amount]) => (old as Amounts | null)?.[key] !== amount,
      );
      if (news.length > 0) changed[name] = Object.fromEntries(news) as JsonObject;
    } else if (!equalJson(old, value)) {
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
