/**
 * A runtime in memory: containers follow a script, on the given clock.
 *
 * 1. It keeps the contract of Runtime: ids are unique, stop and remove are idempotent, stopping a sandbox stops its
 *    containers.
 * 2. `calls` lists all calls but reads, in order.
 * 3. While it is `down` every call fails with Unavailable and events end; containers keep running.
 */
import { Channel, type Clock, type Timer } from "#base";
import {
  type ContainerConfig,
  type ContainerStatus,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type RuntimeFilter,
} from "../runtime.ts";
import type { Behaviour, Script } from "./script.ts";
import { type SimulatedImages, simulatedImages } from "./simulated-images.ts";

export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  readonly script?: Script | undefined;
  /** Files on the node by path: termination messages are written here. */
  readonly files?: Map<string, string>;
}

export interface SimulatedRuntime extends Runtime {
  readonly images: SimulatedImages;
  readonly calls: readonly string[];
  /** The process of a running container exits. */
  exit(pod: string, container: string, exitCode: number, reason?: string): void;
  /** Changes the reason of an exited container afterwards. */
  explain(pod: string, container: string, reason: string): void;
  /** A Pod's sandbox dies. */
  breakSandbox(pod: string): void;
  down(): void;
  up(): void;
  running(): readonly string[];
  readonly sandboxCount: number;
  readonly containerCount: number;
}

interface Sandbox {
  status: PodSandboxStatus;
  readonly config: PodSandboxConfig;
}

interface Box {
  status: ContainerStatus;
  readonly config: ContainerConfig;
  readonly behaviour: Behaviour;
  timer?: Timer;
  readonly ended: PromiseWithResolvers<void>;
}

export function simulatedRuntime(options: SimulatedRuntimeOptions): SimulatedRuntime {
  const { clock, script = {}, files = new Map<string, string>() } = options;
  const sandboxes = new Map<string, Sandbox>();
  const boxes = new Map<string, Box>();
  const listeners = new Set<Channel<RuntimeEvent>>();
  const calls: string[] = [];
  let isDown = false;
  let made = 0;
  const nextId = () => `${(++made).toString(16).padStart(8, "0")}`;

  const checkUp = () => {
    if (isDown) throw new RuntimeError("Unavailable", "connection refused");
  };
  const called = (verb: string) => {
    checkUp();
    if (!verb.startsWith("images.") || verb.startsWith("images.pull") || verb.startsWith("images.remove"))
      calls.push(verb);
  };
  const emit = (type: RuntimeEvent["type"], containerId: string, podSandboxId: string) => {
    for (const listener of listeners) listener.push({ type, containerId, podSandboxId });
  };
  const box = (id: string): Box => {
    const found = boxes.get(id);
    if (found === undefined)
      throw new RuntimeError("NotFound", `an error occurred when try to find container "${id}": not found`);
    return found;
  };
  const labelOf = ({ status: { labels } }: Box) =>
    `${labels["io.kubernetes.pod.name"]}/${labels["io.kubernetes.container.name"]}`;

  const end = (each: Box, exitCode: number, reason = exitCode === 0 ? "Completed" : "Error") => {
    if (each.status.state === "exited") return;
    each.timer?.cancel();
    each.status = { ...each.status, state: "exited", exitCode, reason, finishedAtMs: clock.now() };
    const { terminationMessage } = each.behaviour;
    const path = each.config.annotations["io.kubernetes.container.terminationMessagePath"];
    const target = each.config.mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
    if (terminationMessage !== undefined && target !== undefined) files.set(target, terminationMessage);
    each.ended.resolve();
    emit("stopped", each.status.id, each.status.podSandboxId);
  };

  const stop = async (each: Box, graceSeconds: number, signal?: AbortSignal) => {
    if (each.status.state === "created") return end(each, 137);
    if (each.status.state !== "running") return;
    const { onStop = { afterMs: 0, exitCode: 143 } } = each.behaviour;
    const graceMs = graceSeconds * 1000;
    const dies = onStop !== "ignore" && onStop.afterMs <= graceMs && graceMs > 0;
    const afterMs = dies ? onStop.afterMs : graceMs;
    const code = dies ? onStop.exitCode : 137;
    if (afterMs === 0) return end(each, code);
    const timer = clock.timer(afterMs, () => end(each, code));
    const abandoned = Promise.withResolvers<never>();
    const onAbort = () => abandoned.reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([each.ended.promise, abandoned.promise]);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      timer.cancel();
    }
  };

  const matches = (filter: RuntimeFilter = {}, id: string, sandbox: string, labels: Readonly<Record<string, string>>) =>
    (filter.id === undefined || filter.id === id) &&
    (filter.podSandboxId === undefined || filter.podSandboxId === sandbox) &&
    Object.entries(filter.labels ?? {}).every(([key, value]) => labels[key] === value);

  return {
    calls,
    images: simulatedImages(clock, script, called),
    async version() {
      checkUp();
      return { runtimeName: "simulated", runtimeVersion: "1.0.0", runtimeApiVersion: "v1" };
    },
    async status() {
      checkUp();
      const ready = { status: true, reason: "", message: "" };
      return {
        conditions: [
          { type: "RuntimeReady", ...ready },
          { type: "NetworkReady", ...ready },
        ],
      };
    },
    async runPodSandbox(config, runtimeHandler, signal) {
      const { metadata } = config;
      called(`runPodSandbox ${metadata.name}`);
      const { error, afterMs = 0 } = script.sandbox?.(metadata.name, metadata.attempt) ?? {};
      if (afterMs > 0) await clock.sleep(afterMs, signal);
      if (error !== undefined) throw new RuntimeError("Unknown", error);
      const id = nextId();
      const number = sandboxes.size + made;
      const ips = config.linux.namespaces.network === "NODE" ? [] : [`10.244.${number >> 8}.${number & 255}`];
      const { labels, annotations } = config;
      const createdAtMs = clock.now();
      const status = { id, metadata, state: "ready" as const, createdAtMs, labels, annotations, runtimeHandler, ips };
      sandboxes.set(id, { status, config });
      emit("started", id, id);
      return id;
    },
    async stopPodSandbox(id) {
      called(`stopPodSandbox ${sandboxes.get(id)?.status.metadata.name ?? id}`);
      const sandbox = sandboxes.get(id);
      if (sandbox === undefined) return;
      for (const each of boxes.values()) if (each.status.podSandboxId === id) end(each, 137);
      if (sandbox.status.state === "notReady") return;
      sandbox.status = { ...sandbox.status, state: "notReady", ips: [] };
      emit("stopped", id, id);
    },
    async removePodSandbox(id) {
      called(`removePodSandbox ${sandboxes.get(id)?.status.metadata.name ?? id}`);
      if (sandboxes.get(id)?.status.state === "ready") throw new RuntimeError("Unknown", "the sandbox is not stopped");
      if (!sandboxes.delete(id)) return;
      for (const each of boxes.values()) if (each.status.podSandboxId === id) boxes.delete(each.status.id);
      emit("deleted", id, id);
    },
    async podSandboxStatus(id) {
      checkUp();
      return sandboxes.get(id)?.status;
    },
    async listPodSandboxes(filter) {
      checkUp();
      return [...sandboxes.values()]
        .map(({ status }) => status)
        .filter(({ id, labels }) => matches(filter, id, id, labels));
    },
    async createContainer(sandboxId, config, sandbox) {
      const { name, attempt } = config.metadata;
      const pod = sandbox.metadata.name;
      called(`createContainer ${pod}/${name}#${attempt}`);
      if (sandboxes.get(sandboxId)?.status.state !== "ready") throw new RuntimeError("NotFound", "the sandbox is gone");
      const { namespace } = sandbox.metadata;
      const behaviour = script.container?.({ pod, namespace, name, image: config.image, attempt }) ?? {};
      if (behaviour.createError !== undefined) throw new RuntimeError("Unknown", behaviour.createError);
      const id = nextId();
      const status: ContainerStatus = {
        id,
        podSandboxId: sandboxId,
        metadata: config.metadata,
        image: config.image,
        imageRef: `sha256:${config.image}`,
        state: "created",
        createdAtMs: clock.now(),
        labels: config.labels,
        annotations: config.annotations,
        startedAtMs: 0,
        finishedAtMs: 0,
        exitCode: 0,
        reason: "",
        message: "",
        mounts: config.mounts,
        logPath: `${sandbox.logDirectory}/${config.logPath}`,
        resources: config.linux.resources,
      };
      if (behaviour.log !== undefined) files.set(status.logPath, behaviour.log);
      boxes.set(id, { status, config, behaviour, ended: Promise.withResolvers() });
      emit("created", id, sandboxId);
      return id;
    },
    async startContainer(id, signal) {
      const each = box(id);
      called(`startContainer ${labelOf(each)}#${each.status.metadata.attempt}`);
      const { startError, startAfterMs, exit } = each.behaviour;
      if (startAfterMs !== undefined) {
        await clock.sleep(startAfterMs, signal).catch((error: unknown) => {
          end(each, 128, "StartError");
          throw error;
        });
      }
      if (startError !== undefined) {
        each.status = { ...each.status, startedAtMs: clock.now() };
        end(each, 128, "StartError");
        throw new RuntimeError("Unknown", startError);
      }
      each.status = { ...each.status, state: "running", startedAtMs: clock.now() };
      emit("started", id, each.status.podSandboxId);
      if (exit !== undefined) each.timer = clock.timer(exit.afterMs, () => end(each, exit.code, exit.reason));
    },
    async stopContainer(id, graceSeconds, signal) {
      const each = boxes.get(id);
      called(`stopContainer ${each === undefined ? id : labelOf(each)} grace ${graceSeconds}`);
      if (each !== undefined) await stop(each, graceSeconds, signal);
    },
    async removeContainer(id) {
      const each = boxes.get(id);
      called(`removeContainer ${each === undefined ? id : labelOf(each)}`);
      if (each === undefined) return;
      end(each, 137);
      boxes.delete(id);
      emit("deleted", id, each.status.podSandboxId);
    },
    async containerStatus(id) {
      checkUp();
      return boxes.get(id)?.status;
    },
    async listContainers(filter) {
      checkUp();
      return [...boxes.values()]
        .map(({ status }) => status)
        .filter(({ id, podSandboxId, labels }) => matches(filter, id, podSandboxId, labels));
    },
    async updateContainerResources(id, resources) {
      const each = box(id);
      called(`updateContainerResources ${labelOf(each)}`);
      each.status = { ...each.status, resources: { ...each.status.resources, ...resources } };
    },
    checkpointContainer: async (id) => called(`checkpointContainer ${labelOf(box(id))}`),
    async reopenContainerLog(id) {
      called(`reopenContainerLog ${labelOf(box(id))}`);
    },
    async execSync(id, command, timeoutMs, signal) {
      const each = box(id);
      called(`execSync ${labelOf(each)} ${command.join(" ")}`);
      if (each.status.state !== "running") throw new RuntimeError("Unknown", "the container is not running");
      const { exitCode, output = "", afterMs = 0 } = each.behaviour.exec?.(command) ?? { exitCode: 0 };
      if (afterMs > 0) await clock.sleep(Math.min(afterMs, timeoutMs > 0 ? timeoutMs : afterMs), signal);
      if (timeoutMs > 0 && afterMs > timeoutMs)
        throw new RuntimeError("DeadlineExceeded", `command timed out after ${timeoutMs / 1000}s`);
      return { stdout: Buffer.from(output), stderr: new Uint8Array(), exitCode };
    },
    exec: unsupported,
    attach: unsupported,
    portForward: unsupported,
    async listContainerStats() {
      checkUp();
      return [];
    },
    async *events(signal) {
      checkUp();
      const channel = new Channel<RuntimeEvent>({ capacity: 100_000 });
      const leave = () => channel.close();
      listeners.add(channel);
      signal.addEventListener("abort", leave, { once: true });
      try {
        yield* channel;
      } finally {
        listeners.delete(channel);
        signal.removeEventListener("abort", leave);
      }
    },
    async close() {
      for (const each of boxes.values()) each.timer?.cancel();
      for (const listener of listeners) listener.close();
    },
    exit(pod, container, exitCode, reason) {
      const found = [...boxes.values()].find(
        (each) => labelOf(each) === `${pod}/${container}` && each.status.state === "running",
      );
      if (found === undefined) throw new Error(`no container ${pod}/${container} runs`);
      end(found, exitCode, reason);
    },
    explain(pod, container, reason) {
      const found = [...boxes.values()].findLast(
        (each) => labelOf(each) === `${pod}/${container}` && each.status.state === "exited",
      );
      if (found === undefined) throw new Error(`no container ${pod}/${container} has ended`);
      found.status = { ...found.status, reason };
      emit("stopped", found.status.id, found.status.podSandboxId);
    },
    breakSandbox(pod) {
      for (const sandbox of sandboxes.values()) {
        if (sandbox.status.metadata.name !== pod || sandbox.status.state !== "ready") continue;
        for (const each of boxes.values()) if (each.status.podSandboxId === sandbox.status.id) end(each, 137);
        sandbox.status = { ...sandbox.status, state: "notReady", ips: [] };
        emit("stopped", sandbox.status.id, sandbox.status.id);
      }
    },
    down() {
      isDown = true;
      for (const listener of listeners) listener.fail(new RuntimeError("Unavailable", "connection refused"));
    },
    up() {
      isDown = false;
    },
    running: () =>
      [...boxes.values()]
        .filter(({ status }) => status.state === "running")
        .map(labelOf)
        .sort(),
    get sandboxCount() {
      return sandboxes.size;
    },
    get containerCount() {
      return boxes.size;
    },
  };
}

async function unsupported(): Promise<never> {
  throw new RuntimeError("Unknown", "streams are not simulated");
}
