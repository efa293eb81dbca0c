/**
 * Ending containers: preStop, SIGTERM, and SIGKILL when the grace period is over.
 *
 * 1. The time that preStop and waiting for others take counts; SIGTERM still gets at least two seconds, unless less was asked for.
 * 2. In a Pod, all preStop hooks begin at once. Sidecars get their SIGTERM after all regular containers have ended, the last one first.
 */
import type { core } from "#api";
import { isAbort } from "#base";
import { isSidecar } from "../pod-status/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { KillReason } from "./actions.ts";
import type { PodParts } from "./parts.ts";
import { nameOf, type RuntimePod } from "./runtime-pod.ts";

const DEFAULT_GRACE_SECONDS = 30;
const MIN_GRACE_SECONDS = 2;
/** Even a Pod that is deleted at once has a moment. */
const MIN_DELETION_SECONDS = 1;

type Parts = Pick<PodParts, "runtime" | "hooks" | "events" | "facts" | "clock" | "log">;

export interface KillRequest {
  readonly pod: core.Pod;
  readonly container: ContainerStatus;
  readonly message: string;
  readonly graceSeconds: number;
  /** Whether the grace period is exactly that, however short. */
  readonly exact: boolean;
  readonly podIp: string;
  /** SIGTERM waits for this, as long as there is time. */
  readonly after?: Promise<unknown>;
}

/** How long a Pod has to end: what its deletion says, else what it says itself. */
export function podGraceSeconds({ metadata, spec }: core.Pod): number {
  if (metadata.deletionTimestamp !== undefined)
    return Math.max(MIN_DELETION_SECONDS, metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS);
  return spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

/** How long a container has to end that is killed while its Pod goes on. */
export function containerGraceSeconds(
  pod: core.Pod,
  container: core.Container | undefined,
  reason: KillReason,
): number {
  const probe =
    reason === "Startup" ? container?.startupProbe : reason === "Liveness" ? container?.livenessProbe : undefined;
  return probe?.terminationGracePeriodSeconds ?? podGraceSeconds(pod);
}

export async function killContainer(parts: Parts, request: KillRequest, signal: AbortSignal): Promise<void> {
  const { runtime, events, clock, log } = parts;
  const { pod, container, message, graceSeconds, exact, after } = request;
  const name = nameOf(container);
  const startMs = clock.monotonic();
  const leftSeconds = () => graceSeconds - Math.floor((clock.monotonic() - startMs) / 1000);
  events.record(pod, "Normal", "Killing", message);
  log.info("a container is stopped", { pod: pod.metadata.name, container: name, graceSeconds, reason: message });
  if (graceSeconds > 0) await preStop(parts, request, signal);
  if (after !== undefined && leftSeconds() > 0) await within(clock, after, leftSeconds() * 1000, signal);
  const left = exact ? Math.max(0, leftSeconds()) : Math.max(MIN_GRACE_SECONDS, leftSeconds());
  await runtime.stopContainer(container.id, left, signal);
}

/** A hook that fails or takes too long holds up nothing. */
async function preStop(parts: Parts, request: KillRequest, signal: AbortSignal): Promise<void> {
  const { hooks, events, clock, log } = parts;
  const { pod, container, graceSeconds, podIp } = request;
  const name = nameOf(container);
  const spec = containerOf(pod, name);
  const handler = spec?.lifecycle?.preStop;
  if (spec === undefined || handler === undefined || container.state !== "running") return;
  const enough = new AbortController();
  const running = hooks.run(
    { handler, containerId: container.id, container: spec, podIp },
    AbortSignal.any([signal, enough.signal]),
  );
  try {
    await within(clock, running, graceSeconds * 1000, signal);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    log.warn("a preStop hook failed", { pod: pod.metadata.name, container: name, error });
    events.record(pod, "Warning", "FailedPreStopHook", "PreStopHook failed");
  } finally {
    enough.abort();
    running.catch(() => {});
  }
}

/** All of a Pod's running containers, then its sandboxes. Whether there was anything to end. */
export async function killPod(
  parts: Parts,
  pod: core.Pod,
  runtime: RuntimePod,
  graceSeconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  const podIp = podIpOf(parts, pod, runtime);
  const running = runtime.containers.filter(({ state }) => state === "running");
  const ready = runtime.sandboxes.filter(({ state }) => state === "ready");
  const tasks = new Map<string, Promise<void>>();
  const all: Promise<void>[] = [];
  for (const container of inOrderOfEnd(pod, running)) {
    const spec = containerOf(pod, nameOf(container));
    const after = isSidecarOf(pod, spec) ? Promise.allSettled([...tasks.values()]) : undefined;
    const request = {
      pod,
      container,
      message: `Stopping container ${nameOf(container)}`,
      graceSeconds,
      exact: graceSeconds < MIN_GRACE_SECONDS,
      podIp,
      ...(after !== undefined && { after }),
    };
    const task = killContainer(parts, request, signal);
    tasks.set(container.id, task);
    all.push(task);
  }
  const failed = (await Promise.allSettled(all)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  // Also of what is down already: what a runtime has not cleared up, it does now.
  for (const { id } of runtime.sandboxes) await parts.runtime.stopPodSandbox(id, signal);
  return running.length > 0 || ready.length > 0;
}

/** Regular containers, then sidecars from the last to the first. */
function inOrderOfEnd(pod: core.Pod, running: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const rank = (container: ContainerStatus) => sidecars.length - sidecars.indexOf(nameOf(container));
  const isRegular = (container: ContainerStatus) => !sidecars.includes(nameOf(container));
  return [...running].sort((a, b) => (isRegular(a) ? 0 : rank(a)) - (isRegular(b) ? 0 : rank(b)));
}

function isSidecarOf({ spec }: core.Pod, container: core.Container | undefined): boolean {
  return (spec?.initContainers ?? []).some((each) => each.name === container?.name && isSidecar(each));
}

export function containerOf({ spec }: core.Pod, name: string): core.Container | undefined {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers].find((each) => each.name === name);
}

/** Where a Pod's containers are reached: its own address, or the node's. */
export function podIpOf({ facts }: Pick<PodParts, "facts">, { spec }: core.Pod, { sandboxes }: RuntimePod): string {
  return (spec?.hostNetwork === true ? facts().nodeIps : (sandboxes[0]?.ips ?? []))[0] ?? "";
}

/** Waits for the promise, but no longer than so long. */
async function within(
  clock: PodParts["clock"],
  promise: Promise<unknown>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const enough = new AbortController();
  try {
    await Promise.race([promise, clock.sleep(ms, AbortSignal.any([signal, enough.signal]))]);
  } finally {
    enough.abort();
  }
}
