/** From CRI's messages to the kubelet's values. Pure. */
import type {
  Container,
  ContainerStats,
  ContainerStatus,
  FilesystemUsage,
  Image,
  LinuxResources,
  Mount,
  PodSandbox,
  PodSandboxStatus,
  RuntimeEvent,
  RuntimeHandler,
  RuntimeStatus,
} from "../runtime/runtime.ts";
import { CONTAINER_STATES, type CriMessage, EVENT_TYPES, PROPAGATIONS } from "./messages.ts";

const NANOSECONDS = 1_000_000n;
const READY = 0;

export function fromRuntimeStatus({ status, runtimeHandlers, features }: CriMessage<"StatusResponse">): RuntimeStatus {
  const conditions = status?.conditions ?? [];
  // Runtimes before v1.30 do not report their handlers.
  return {
    conditions,
    ...(runtimeHandlers.length > 0 && { handlers: runtimeHandlers.map(fromHandler) }),
    ...(features && { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } }),
  };
}

function fromHandler({ name, features }: CriMessage<"RuntimeHandler">): RuntimeHandler {
  if (!features) return { name };
  const { recursiveReadOnlyMounts, userNamespaces } = features;
  return { name, recursiveReadOnlyMounts, userNamespaces };
}

export function fromPodSandbox(sandbox: CriMessage<"PodSandbox"> | CriMessage<"PodSandboxStatus">): PodSandbox {
  const { id, metadata, state, createdAt, labels, annotations, runtimeHandler } = sandbox;
  return {
    id,
    metadata: {
      name: metadata?.name ?? "",
      uid: metadata?.uid ?? "",
      namespace: metadata?.namespace ?? "",
      attempt: metadata?.attempt ?? 0,
    },
    state: state === READY ? "ready" : "notReady",
    createdAtMs: milliseconds(createdAt),
    labels,
    annotations,
    runtimeHandler,
  };
}

export function fromPodSandboxStatus(status: CriMessage<"PodSandboxStatus">): PodSandboxStatus {
  const { ip = "", additionalIps = [] } = status.network ?? {};
  const ips = [ip, ...additionalIps.map((additional) => additional.ip)].filter((address) => address !== "");
  return { ...fromPodSandbox(status), ips };
}

export function fromContainer(container: CriMessage<"Container">): Container {
  const { id, podSandboxId, metadata, image, imageRef, state, createdAt, labels, annotations } = container;
  return {
    id,
    podSandboxId,
    metadata: { name: metadata?.name ?? "", attempt: metadata?.attempt ?? 0 },
    image: image?.userSpecifiedImage || image?.image || "",
    imageRef,
    state: CONTAINER_STATES[state] ?? "unknown",
    createdAtMs: milliseconds(createdAt),
    labels,
    annotations,
  };
}

/** CRI's container status lacks the sandbox. */
export function fromContainerStatus(status: CriMessage<"ContainerStatus">, podSandboxId: string): ContainerStatus {
  const { startedAt, finishedAt, exitCode, reason, message, mounts, logPath, resources, user } = status;
  return {
    ...fromContainer({ ...status, podSandboxId }),
    startedAtMs: milliseconds(startedAt),
    finishedAtMs: milliseconds(finishedAt),
    exitCode,
    reason,
    message,
    mounts: mounts.map(fromMount),
    logPath,
    ...(resources?.linux && { resources: fromResources(resources.linux) }),
    ...(user?.linux && {
      user: {
        uid: Number(user.linux.uid),
        gid: Number(user.linux.gid),
        supplementalGroups: user.linux.supplementalGroups.map(Number),
      },
    }),
  };
}

function fromMount({ containerPath, hostPath, readonly, propagation, ...own }: CriMessage<"Mount">): Mount {
  const mount = { containerPath, hostPath, readonly, propagation: PROPAGATIONS[propagation] ?? "private" };
  return own.recursiveReadOnly ? { ...mount, recursiveReadOnly: true } : mount;
}

/** 0 means "not set" in CRI. */
function fromResources(resources: CriMessage<"LinuxContainerResources">): LinuxResources {
  const { cpuPeriod, cpuQuota, cpuShares, memoryLimitInBytes, oomScoreAdj, cpusetCpus, cpusetMems } = resources;
  const numbers = { cpuPeriod, cpuQuota, cpuShares, memoryLimitBytes: memoryLimitInBytes, oomScoreAdj };
  const set = Object.entries(numbers).filter(([, value]) => value !== "0");
  return {
    ...Object.fromEntries(set.map(([name, value]) => [name, Number(value)])),
    ...(cpusetCpus !== "" && { cpusetCpus }),
    ...(cpusetMems !== "" && { cpusetMems }),
  };
}

export function fromContainerStats({
  attributes,
  cpu,
  memory,
  writableLayer,
}: CriMessage<"ContainerStats">): ContainerStats {
  return {
    id: attributes?.id ?? "",
    labels: attributes?.labels ?? {},
    timestampMs: milliseconds(cpu?.timestamp ?? memory?.timestamp ?? "0"),
    cpuCoreNanoSeconds: amount(cpu?.usageCoreNanoSeconds),
    memoryWorkingSetBytes: amount(memory?.workingSetBytes),
    memoryUsageBytes: amount(memory?.usageBytes),
    memoryRssBytes: amount(memory?.rssBytes),
    writableLayerBytes: amount(writableLayer?.usedBytes),
    writableLayerInodes: amount(writableLayer?.inodesUsed),
  };
}

export function fromImage({ id, repoTags, repoDigests, size, uid, username, pinned }: CriMessage<"Image">): Image {
  return {
    id,
    repoTags,
    repoDigests,
    sizeBytes: Number(size),
    ...(uid !== null && { uid: Number(uid.value) }),
    ...(username !== "" && { username }),
    pinned,
  };
}

export function fromFilesystem({ fsId, usedBytes, inodesUsed }: CriMessage<"FilesystemUsage">): FilesystemUsage {
  return { mountpoint: fsId?.mountpoint ?? "", usedBytes: amount(usedBytes), inodesUsed: amount(inodesUsed) };
}

/** Undefined for values of later versions. */
export function fromEvent(event: CriMessage<"ContainerEventResponse">): RuntimeEvent | undefined {
  const { containerId, type: number, podSandboxStatus } = event;
  const type = EVENT_TYPES[number];
  if (type === undefined) return undefined;
  return podSandboxStatus === null ? { type, containerId } : { type, containerId, podSandboxId: podSandboxStatus.id };
}

function amount(value: CriMessage<"UInt64Value"> | null | undefined): number {
  return Number(value?.value ?? 0);
}

/** Nanoseconds do not fit a number. */
function milliseconds(nanoseconds: string): number {
  const value = BigInt(nanoseconds);
  return value <= 0n ? 0 : Number(value / NANOSECONDS);
}
