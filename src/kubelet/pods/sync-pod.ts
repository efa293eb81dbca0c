/**
 * One sync of a running Pod: read the runtime's state, report the status, act.
 *
 *     runtime ──► podActions ──► status ══► API
 *                     │
 *                     ├─► stop containers
 *                     ├─► volumes ──► sandbox ──► containers
 *                     └─► what waits, and when to sync again
 *
 * 1. A sync works from the runtime's current state. What it could not do, the next one retries.
 * 2. The status is reported before slow operations, and again once the sandbox has its address.
 */
import type { core } from "#api";
import { isAbort } from "#base";
import { resizeConditions } from "../admission/index.ts";
import { messageOf, podSandboxConfig, StartError, type VolumePath } from "../containers/index.ts";
import {
  DEADLINE_EXCEEDED,
  deadlineMs,
  MIN_TERM_SECONDS,
  type PodFailure,
  podGraceSeconds,
  START_RETRY_MS,
} from "../lifecycle/index.ts";
import { isFinal, podStatus, podText } from "../pod-status/index.ts";
import type { PodSandboxConfig, RuntimeHandler, UserNamespace } from "../runtime/runtime.ts";
import type { PodActions, StartAction } from "./actions.ts";
import { allocated, appliedTo, resizeAll } from "./apply-resize.ts";
import { deadOf } from "./collect-dead.ts";
import { containerGraceSeconds, containerOf, killContainer, killPod, podIpOf } from "./kill.ts";
import { observe } from "./observe.ts";
import type { PodParts } from "./parts.ts";
import { podActions } from "./pod-actions.ts";
import type { PodMemory } from "./pod-memory.ts";
import { lookAtPod, newest, type RuntimePod } from "./runtime-pod.ts";
import { startContainer } from "./start-container.ts";

export type SyncResult =
  /** Sync again at once, or wait for events, at most until `wakeAtMs`. */
  | { readonly next: "again" | "wait"; readonly wakeAtMs?: number }
  /** End the Pod: it has finished, or fails for a reason. */
  | { readonly next: "end"; readonly failure?: PodFailure };

export async function syncPod(
  parts: PodParts,
  asked: core.Pod,
  memory: PodMemory,
  report: (status: core.PodStatus) => void,
  signal: AbortSignal,
): Promise<SyncResult> {
  const nowMs = parts.clock.now();
  const pod = allocated(parts, asked, memory);
  const runtime = await lookAtPod(parts.runtime, pod.metadata.uid ?? "", signal);
  probeRunning(parts, pod, runtime);
  const { backoffs } = memory;
  const probed = (id: string) => parts.probes.verdicts(id);
  const applied = appliedTo(memory);
  const { crashBackoff } = parts;
  const actions = podActions({ pod, runtime, probed, backoffs, crashBackoff, applied, nowMs });
  if (actions.resize.length > 0) memory.resize = { ...memory.resize, inProgress: memory.resize.inProgress ?? {} };
  const status = await statusOf(parts, pod, runtime, memory, actions);
  report(status);
  if (isFinal(status.phase)) return { next: "end" };
  const endMs = deadlineMs(pod, status.startTime);
  if (nowMs >= endMs) return { next: "end", failure: DEADLINE_EXCEEDED };
  for (const name of actions.waiting.keys()) recordBackOff(parts, pod, name);

  const hasEnded = await stopContainers(parts, pod, runtime, actions, signal);
  const hasResized = await resizeAll(parts, pod, actions, memory, signal);
  const volumes = await mounted(parts, pod, signal);
  const hasFailed =
    actions.start.length > 0 && (await startAll(parts, pod, runtime, actions, volumes, memory, report, signal));
  if (actions.start.length > 0) await removeDead(parts, pod, signal);
  if (!hasFailed && (hasEnded || hasResized || actions.start.length > 0)) return { next: "again" };
  // Report the waiting state of the failed start, too.
  if (hasFailed) await reportAgain(parts, pod, memory, actions, report, signal);
  const retryMs = hasFailed ? parts.clock.now() + START_RETRY_MS : Number.POSITIVE_INFINITY;
  const wakeAtMs = Math.min(actions.wakeAtMs ?? Number.POSITIVE_INFINITY, endMs, retryMs);
  return { next: "wait", wakeAtMs };
}

async function statusOf(
  parts: PodParts,
  pod: core.Pod,
  runtime: RuntimePod,
  memory: PodMemory,
  { waiting }: Pick<PodActions, "waiting">,
): Promise<core.PodStatus> {
  const all = new Map([...memory.failedStarts, ...waiting]);
  const nowMs = parts.clock.now();
  const observed = await observe(parts, pod, runtime, {
    waiting: all,
    previous: memory.previous,
    conditions: resizeConditions(pod, memory.resize, nowMs),
    applied: appliedTo(memory),
  });
  const status = podStatus(pod, observed, nowMs);
  memory.previous = status;
  return status;
}

async function reportAgain(
  parts: PodParts,
  pod: core.Pod,
  memory: PodMemory,
  actions: Pick<PodActions, "waiting">,
  report: (status: core.PodStatus) => void,
  signal: AbortSignal,
): Promise<void> {
  const runtime = await lookAtPod(parts.runtime, pod.metadata.uid ?? "", signal);
  report(await statusOf(parts, pod, runtime, memory, actions));
}

function probeRunning({ probes, facts }: PodParts, pod: core.Pod, runtime: RuntimePod): void {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const podIp = podIpOf({ facts }, pod, runtime);
  const running = [...initContainers, ...containers].flatMap((container) => {
    const found = newest(runtime, container.name);
    return found?.state === "running" ? [{ container, id: found.id, startedAtMs: found.startedAtMs }] : [];
  });
  probes.watch(pod, running, podIp);
}

async function stopContainers(
  parts: PodParts,
  pod: core.Pod,
  runtime: RuntimePod,
  actions: PodActions,
  signal: AbortSignal,
): Promise<boolean> {
  if (actions.killPod) {
    if (actions.createSandbox !== undefined && runtime.sandboxes.length > 0)
      parts.events.record(pod, "Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");
    return killPod(parts, pod, runtime, podGraceSeconds(pod), signal);
  }
  const podIp = podIpOf(parts, pod, runtime);
  await Promise.all(
    actions.kill.map(async ({ id, name, reason, message }) => {
      const container = runtime.containers.find((each) => each.id === id);
      if (container === undefined) return;
      const graceSeconds = containerGraceSeconds(pod, containerOf(pod, name), reason);
      await killContainer(
        parts,
        { pod, container, message, graceSeconds, minSeconds: MIN_TERM_SECONDS, podIp },
        signal,
      );
    }),
  );
  return actions.kill.length > 0;
}

async function mounted(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<ReadonlyMap<string, VolumePath>> {
  try {
    return await parts.volumes.mount(pod, signal);
  } catch (error) {
    if (!isAbort(error, signal)) parts.events.record(pod, "Warning", "FailedMount", messageOf(error));
    throw error;
  }
}

/** Returns whether a start has failed. */
async function startAll(
  parts: PodParts,
  pod: core.Pod,
  before: RuntimePod,
  actions: PodActions,
  volumes: ReadonlyMap<string, VolumePath>,
  memory: PodMemory,
  report: (status: core.PodStatus) => void,
  signal: AbortSignal,
): Promise<boolean> {
  memory.backoffs = actions.backoffs;
  const attempt = actions.createSandbox?.attempt ?? before.sandboxes[0]?.metadata.attempt ?? 0;
  const isNew = actions.createSandbox !== undefined;
  // A class may be gone that the sandbox was made with.
  const handler = isNew ? await handlerOf(parts, pod, signal) : (before.sandboxes[0]?.runtimeHandler ?? "");
  const abilities = parts.facts().handlers?.find(({ name }) => name === handler);
  const users = isNew ? await usersOf(parts, pod, handler, abilities, signal) : await parts.users?.of(pod);
  const sandbox = podSandboxConfig(pod, attempt, parts.facts(), users);
  let runtime = before;
  if (actions.createSandbox !== undefined) {
    await prepareClaims(parts, pod, signal);
    await createSandbox(parts, pod, sandbox, handler, signal);
    runtime = await lookAtPod(parts.runtime, before.uid, signal);
    report(await statusOf(parts, pod, runtime, memory, actions));
  }
  const [current] = runtime.sandboxes;
  if (current === undefined) throw new Error("the sandbox disappeared before its containers were started");
  let hasFailed = false;
  for (const action of actions.start) {
    const container = containerOf(pod, action.name);
    if (container === undefined) continue;
    const targetId = targetOf(pod, action, runtime);
    if (action.replaces !== undefined) await parts.runtime.removeContainer(action.replaces, signal);
    try {
      await startContainer(
        parts,
        {
          pod,
          container,
          attempt: action.attempt,
          sandboxId: current.id,
          sandbox,
          podIps: current.ips,
          volumes,
          abilities,
          targetId,
        },
        signal,
      );
      parts.metrics.containerStarted(action.role);
      memory.failedStarts.delete(action.name);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      hasFailed = true;
      parts.metrics.containerFailed(action.role, error.reason);
      memory.failedStarts.set(action.name, { reason: error.reason, message: error.message });
      parts.log.warn("container could not be started", {
        pod: podText(pod),
        container: action.name,
        reason: error.reason,
        problem: error.message,
      });
    }
  }
  return hasFailed;
}

function targetOf({ spec }: core.Pod, { name, role }: StartAction, runtime: RuntimePod): string | undefined {
  if (role !== "ephemeral") return undefined;
  const target = spec?.ephemeralContainers?.find((each) => each.name === name)?.targetContainerName;
  return target === undefined || target === "" ? undefined : newest(runtime, target)?.id;
}

/** Throws while the devices that the Pod claims are not there: it must not start without them. */
async function prepareClaims(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<void> {
  try {
    await parts.devices.prepare(pod, signal);
  } catch (error) {
    if (isAbort(error, signal) || signal.aborted) throw error;
    const note = `Failed to prepare dynamic resources: prepare dynamic resources: ${messageOf(error)}`;
    parts.events.record(pod, "Warning", "FailedPrepareDynamicResources", note);
    throw error;
  }
}

async function createSandbox(
  parts: PodParts,
  pod: core.Pod,
  sandbox: PodSandboxConfig,
  handler: string,
  signal: AbortSignal,
): Promise<void> {
  await parts.cgroups.ensure(pod, parts.topology?.hasExclusiveCpus(pod.metadata.uid ?? ""));
  await parts.files.makeLogDirectory(pod);
  await sandboxed(parts, pod, () => parts.runtime.runPodSandbox(sandbox, handler, signal), signal);
}

/** The runtime's handler of the Pod's class; empty: the default one. */
function handlerOf(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<string> {
  const { runtimeClassName = "" } = pod.spec ?? {};
  if (runtimeClassName === "") return Promise.resolve("");
  return sandboxed(parts, pod, () => parts.objects.runtimeHandler(runtimeClassName), signal);
}

/** A Pod with hostUsers: false must not run with the node's users. */
function usersOf(
  parts: PodParts,
  pod: core.Pod,
  handler: string,
  abilities: RuntimeHandler | undefined,
  signal: AbortSignal,
): Promise<UserNamespace | undefined> {
  if (pod.spec?.hostUsers !== false) return Promise.resolve(undefined);
  const find = async () => {
    if (abilities?.userNamespaces !== true || parts.users === undefined) throw new Error(noUserNamespaces(handler));
    return parts.users.of(pod);
  };
  return sandboxed(parts, pod, find, signal);
}

/** What goes wrong is the sandbox's failure. */
async function sandboxed<T>(parts: PodParts, pod: core.Pod, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAbort(error, signal)) {
      const note = `Failed to create pod sandbox: ${messageOf(error)}`;
      parts.events.record(pod, "Warning", "FailedCreatePodSandBox", note);
    }
    throw error;
  }
}

function noUserNamespaces(handler: string): string {
  const subject = handler === "" ? "runtime" : `RuntimeClass handler "${handler}"`;
  return `can't set \`spec.hostUsers: false\`, ${subject} does not support user namespaces`;
}

async function removeDead(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<void> {
  const dead = deadOf(await lookAtPod(parts.runtime, pod.metadata.uid ?? "", signal));
  for (const container of dead.containers) {
    await parts.runtime.removeContainer(container.id, signal);
    await parts.files.removeLog(container.logPath);
  }
  for (const id of dead.sandboxIds) await parts.runtime.removePodSandbox(id, signal);
}

function recordBackOff(parts: PodParts, pod: core.Pod, name: string): void {
  const note = `Back-off restarting failed container ${name} in pod ${podText(pod)}`;
  parts.events.record(pod, "Warning", "BackOff", note);
}
