/**
 * Stops containers: preStop, SIGTERM, and SIGKILL when the grace period is over.
 *
 * 1. preStop hooks and waiting for other containers use up the grace period; between SIGTERM and SIGKILL there are at
 *    least two seconds, unless the grace period is shorter.
 * 2. All preStop hooks of a Pod start at once. Sidecars get SIGTERM after all regular containers have exited, the
 *    last one first.
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
  /** The least time between SIGTERM and SIGKILL. Default: 2, or 0 if the grace period is shorter. */
  readonly minSeconds?: number | undefined;
  readonly podIp: string;
  /** SIGTERM waits for this within the grace period. */
  readonly after?: Promise<unknown> | undefined;
}

/** The grace period of a container that is stopped while its Pod continues. */
export function containerGraceSeconds(
  pod: core.Pod,
  container: core.Container | undefined,
  reason: KillReason,
): number {
  const probe =
    reason === "Startup" ? container?.startupProbe : reason === "Liveness" ? container?.livenessProbe : undefined;
  return Number(probe?.terminationGracePeriodSeconds ?? podGraceSeconds(pod));
}

export async function killContainer(parts: Parts, request: KillRequest, signal: AbortSignal): Promise<void> {
  const { runtime, events, clock, log } = parts;
  const { pod, container, message, graceSeconds, minSeconds, after } = request;
  const name = nameOf(container);
  const startMs = clock.monotonic();
  const passedMs = () => clock.monotonic() - startMs;
  events.record(pod, "Normal", "Killing", message);
  log.info("stopping container", { pod: pod.metadata.name, container: name, graceSeconds, reason: message });
  if (graceSeconds > 0) await preStop(parts, request, signal);
  const leftSeconds = termSeconds(graceSeconds, passedMs(), 0);
  if (after !== undefined && leftSeconds > 0) await within(clock, after, leftSeconds * 1000, signal);
  await runtime.stopContainer(container.id, termSeconds(graceSeconds, passedMs(), minSeconds), signal);
}

/** A hook that fails or times out does not keep the container from being stopped. */
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
    log.warn("preStop hook failed", { pod: pod.metadata.name, container: name, error });
    events.record(pod, "Warning", "FailedPreStopHook", "PreStopHook failed");
  } finally {
    enough.abort();
    running.catch(() => {});
  }
}

/** Stops a Pod's running containers, then its sandboxes. Returns whether there was anything to stop. */
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
  // Also those that are not ready: the runtime may not have cleaned up after them.
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

/** The address of the Pod's containers: the sandbox's, or the node's on the host network. */
export function podIpOf({ facts }: Pick<PodParts, "facts">, { spec }: core.Pod, { sandboxes }: RuntimePod): string {
  return (spec?.hostNetwork === true ? facts().nodeIps : (sandboxes[0]?.ips ?? []))[0] ?? "";
}

/** Waits for the promise, at most `ms`. */
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
