/**
 * Ending containers: preStop, SIGTERM, and SIGKILL when the grace period is over.
 *
 * 1. The time that preStop and waiting for others take counts; SIGTERM still gets at least two seconds, unless less was asked for.
 * 2. In a Pod, all preStop hooks begin at once. Sidecars get their SIGTERM after all regular containers have ended, the last one first.
 */
import type { core } from "#api";
import { isAbort } from "#base";
import { nameOf } from "../containers/index.ts";
import { podGraceSeconds, sidecarsInTerminationOrder, termSeconds } from "../lifecycle/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";
import type { KillReason } from "./actions.ts";
import type { PodParts } from "./parts.ts";
import type { RuntimePod } from "./runtime-pod.ts";

type Parts = Pick<PodParts, "runtime" | "hooks" | "events" | "facts" | "clock" | "log">;

export interface KillRequest {
  readonly pod: core.Pod;
  readonly container: ContainerStatus;
  readonly message: string;
  readonly graceSeconds: number;
  /** The least time between SIGTERM and SIGKILL. Default: as for a Pod that has this grace period. */
  readonly minSeconds?: number | undefined;
  readonly podIp: string;
  /** SIGTERM waits for this, as long as there is time. */
  readonly after?: Promise<unknown> | undefined;
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
  const { pod, container, message, graceSeconds, minSeconds, after } = request;
  const name = nameOf(container);
  const startMs = clock.monotonic();
  const passedMs = () => clock.monotonic() - startMs;
  events.record(pod, "Normal", "Killing", message);
  log.info("a container is stopped", { pod: pod.metadata.name, container: name, graceSeconds, reason: message });
  if (graceSeconds > 0) await preStop(parts, request, signal);
  const leftSeconds = termSeconds(graceSeconds, passedMs(), 0);
  if (after !== undefined && leftSeconds > 0) await within(clock, after, leftSeconds * 1000, signal);
  await runtime.stopContainer(container.id, termSeconds(graceSeconds, passedMs(), minSeconds), signal);
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
  const sidecars = sidecarsInTerminationOrder(pod);
  for (const container of inTerminationOrder(sidecars, running)) {
    const isSidecar = sidecars.includes(nameOf(container));
    const after = isSidecar ? Promise.allSettled([...tasks.values()]) : undefined;
    const request = {
      pod,
      container,
      message: `Stopping container ${nameOf(container)}`,
      graceSeconds,
      podIp,
      after,
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

/** Regular containers, then sidecars. */
function inTerminationOrder(
  sidecars: readonly string[],
  running: readonly ContainerStatus[],
): readonly ContainerStatus[] {
  const rank = (container: ContainerStatus) => sidecars.indexOf(nameOf(container));
  return [...running].sort((a, b) => rank(a) - rank(b));
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
