/**
 * A runtime that speaks CRI v1 over a socket: containerd, CRI-O.
 *
 *     kubelet ──► criRuntime ──► to-cri ──► channel (gRPC) ──► runtime
 *             ◄── from-cri ◄──────────────────────┘
 *
 * 1. The only state is which sandbox a container belongs to: it never changes, and CRI's container status lacks it.
 */
import type { Clock, Logger } from "#base";
import type { Tracer } from "#tracing";
import { type Container, type Runtime, RuntimeError } from "../runtime/runtime.ts";
import { openChannel } from "./channel.ts";
import { containerdContent } from "./containerd-content.ts";
import { containerdSnapshots } from "./containerd-snapshots.ts";
import { runtimeEvents } from "./events.ts";
import {
  fromContainer,
  fromContainerStats,
  fromContainerStatus,
  fromPodSandbox,
  fromPodSandboxStatus,
  fromRuntimeStatus,
} from "./from-cri.ts";
import { criImages } from "./image-service.ts";
import { runtimeMethods } from "./messages.ts";
import { toContainerConfig, toContainerFilter, toPodSandboxConfig, toResources, toSandboxFilter } from "./to-cri.ts";

export interface CriOptions {
  /** The runtime's socket: a path, or unix:///path. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a verb may take. Default: 2 minutes, as the kubelet's `runtimeRequestTimeout`. */
  readonly timeoutMs?: number;
  readonly tracer?: Tracer | undefined;
}

const TIMEOUT_MS = 120_000;
const CRI_VERSION = "v1";

export function criRuntime({ endpoint, clock, log, timeoutMs = TIMEOUT_MS, tracer }: CriOptions): Runtime {
  const channel = openChannel(endpoint, { clock, timeoutMs, tracer });
  const methods = runtimeMethods();
  const sandboxOf = new Map<string, string>();

  const listContainers: Runtime["listContainers"] = async (filter = {}, signal) => {
    const request = { filter: toContainerFilter(filter) };
    const { containers } = await channel.call(methods.ListContainers, request, { signal });
    const listed = containers.map(fromContainer);
    if (Object.keys(filter).length === 0) sandboxOf.clear();
    for (const { id, podSandboxId } of listed) sandboxOf.set(id, podSandboxId);
    return listed;
  };
  const listPodSandboxes: Runtime["listPodSandboxes"] = async (filter = {}, signal) => {
    const request = { filter: toSandboxFilter(filter) };
    const { items } = await channel.call(methods.ListPodSandbox, request, { signal });
    return items.map(fromPodSandbox);
  };
  const container = async (id: string, signal?: AbortSignal): Promise<Container | undefined> =>
    (await listContainers({ id }, signal)).find((each) => each.id === id);

  return {
    async version(signal) {
      const answer = await channel.call(methods.Version, { version: CRI_VERSION }, { signal });
      const { runtimeName, runtimeVersion, runtimeApiVersion } = answer;
      return { runtimeName, runtimeVersion, runtimeApiVersion };
    },
    async status(signal) {
      return fromRuntimeStatus(await channel.call(methods.Status, {}, { signal }));
    },

    async runPodSandbox(config, runtimeHandler, signal) {
      const request = { config: toPodSandboxConfig(config), runtimeHandler };
      // Twice the timeout of other verbs: the network has to be set up.
      const limits = { signal, timeoutMs: 2 * timeoutMs };
      const { podSandboxId } = await channel.call(methods.RunPodSandbox, request, limits);
      if (podSandboxId === "") throw new RuntimeError("Unknown", "the runtime gave no id for the sandbox");
      return podSandboxId;
    },
    stopPodSandbox: (id, signal) =>
      gone(channel.call(methods.StopPodSandbox, { podSandboxId: id }, { signal, timeoutMs: 2 * timeoutMs })),
    removePodSandbox: (id, signal) =>
      gone(channel.call(methods.RemovePodSandbox, { podSandboxId: id }, { signal, timeoutMs: 2 * timeoutMs })),
    async podSandboxStatus(id, signal) {
      const answer = await found(channel.call(methods.PodSandboxStatus, { podSandboxId: id }, { signal }));
      return answer?.status ? fromPodSandboxStatus(answer.status) : undefined;
    },
    listPodSandboxes,

    async createContainer(podSandboxId, config, sandbox, signal) {
      const request = { podSandboxId, config: toContainerConfig(config), sandboxConfig: toPodSandboxConfig(sandbox) };
      const { containerId } = await channel.call(methods.CreateContainer, request, { signal });
      if (containerId === "") throw new RuntimeError("Unknown", "the runtime gave no id for the container");
      sandboxOf.set(containerId, podSandboxId);
      return containerId;
    },
    async startContainer(containerId, signal) {
      await channel.call(methods.StartContainer, { containerId }, { signal });
    },
    async stopContainer(containerId, graceSeconds, signal) {
      const timeout = Math.max(0, Math.ceil(graceSeconds));
      const limits = { signal, timeoutMs: timeoutMs + timeout * 1000 };
      await gone(channel.call(methods.StopContainer, { containerId, timeout }, limits));
    },
    async removeContainer(containerId, signal) {
      await gone(channel.call(methods.RemoveContainer, { containerId }, { signal }));
      sandboxOf.delete(containerId);
    },
    async containerStatus(id, signal) {
      const answer = await found(channel.call(methods.ContainerStatus, { containerId: id }, { signal }));
      if (!answer?.status) return undefined;
      const podSandboxId = sandboxOf.get(id) ?? (await container(id, signal))?.podSandboxId;
      return podSandboxId === undefined ? undefined : fromContainerStatus(answer.status, podSandboxId);
    },
    listContainers,
    async updateContainerResources(containerId, resources, signal) {
      const request = { containerId, linux: toResources(resources) };
      await channel.call(methods.UpdateContainerResources, request, { signal });
    },
    async reopenContainerLog(containerId, signal) {
      await channel.call(methods.ReopenContainerLog, { containerId }, { signal });
    },

    async checkpointContainer(containerId, location, timeoutSeconds, signal) {
      // No shorter than the runtime's own deadline.
      const limits = { signal, timeoutMs: Math.max(timeoutMs, timeoutSeconds * 1000) };
      await channel.call(methods.CheckpointContainer, { containerId, location, timeout: timeoutSeconds }, limits);
    },

    async execSync(containerId, cmd, limitMs, signal) {
      const timeout = Math.ceil(limitMs / 1000);
      // The runtime enforces the command's timeout; the call gets a little more. 0: no timeout.
      const limits = { signal, timeoutMs: limitMs === 0 ? 0 : timeoutMs + timeout * 1000 };
      return channel.call(methods.ExecSync, { containerId, cmd, timeout }, limits);
    },
    async exec({ command: cmd, ...same }, signal) {
      return (await channel.call(methods.Exec, { ...same, cmd }, { signal })).url;
    },
    async attach(request, signal) {
      return (await channel.call(methods.Attach, request, { signal })).url;
    },
    async portForward(podSandboxId, port, signal) {
      return (await channel.call(methods.PortForward, { podSandboxId, port }, { signal })).url;
    },

    async listContainerStats(filter = {}, signal) {
      const request = { filter: toContainerFilter(filter) };
      const { stats } = await channel.call(methods.ListContainerStats, request, { signal });
      return stats.map(fromContainerStats);
    },
    events(signal) {
      const view = {
        container: (id: string) => container(id, signal),
        sandbox: async (id: string) => (await listPodSandboxes({ id }, signal)).find((each) => each.id === id),
      };
      log.debug("watching the runtime's events", { endpoint });
      return runtimeEvents({ channel, methods, view, clock }, signal);
    },

    images: {
      ...criImages(channel),
      ...containerdContent(channel),
      mounts: containerdSnapshots(channel, methods.Status),
    },
    close: async () => channel.close(),
  };
}

/** Stopping or removing what is gone succeeds. */
async function gone(ending: Promise<unknown>): Promise<void> {
  await found(ending);
}

async function found<T>(asking: Promise<T>): Promise<T | undefined> {
  return asking.catch((error: unknown) => {
    if (error instanceof RuntimeError && error.code === "NotFound") return undefined;
    throw error;
  });
}
