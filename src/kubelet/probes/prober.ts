/**
 * Runs the probes of all containers of a node: one loop for each probe of each running instance.
 *
 * 1. The other probes wait until the startup probe has succeeded.
 * 2. A loop ends with its instance, or once the probe is finished. Verdicts are kept as long as the Pod exists.
 * 3. Unknown results change nothing: containers are not killed because the runtime is away.
 * 4. After a restart of the kubelet, the status in the API is the initial verdict: no container becomes unready.
 * 5. In a terminating Pod only readiness probes continue.
 */
import type { core } from "#api";
import { type ChildController, type Clock, childController, isAbort, type Random, type TaskGroup } from "#base";
import type { PodEvents } from "../objects/index.ts";
import type { PodProbes, ProbedContainer } from "./pod-probes.ts";
import type { ProbeMetrics } from "./probe-metrics.ts";
import { firstState, isSettled, nextState, type ProbeKind, type ProbeState, type Verdict } from "./probe-state.ts";
import { type ProbeMeans, runProbe } from "./run-probe.ts";

export interface ProberOptions extends ProbeMeans {
  readonly events: PodEvents;
  readonly random: Random;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly metrics?: ProbeMetrics | undefined;
  /** Called when a verdict has changed. */
  readonly onVerdict: (uid: string, kind: string, verdict: string) => void;
}

interface Watched {
  readonly uid: string;
  readonly pod: core.Pod;
  readonly container: string;
  readonly states: Map<ProbeKind, ProbeState>;
  readonly stop: ChildController;
  readonly killing: ChildController;
  readonly started: PromiseWithResolvers<void>;
}

const KINDS: readonly ProbeKind[] = ["startup", "liveness", "readiness"];
const WORDS = { startup: "Startup", liveness: "Liveness", readiness: "Readiness" } as const;
const DEFAULT_PERIOD_SECONDS = 10;

export function prober(options: ProberOptions): PodProbes {
  const { tasks } = options;
  const watched = new Map<string, Watched>();

  const begin = (pod: core.Pod, { container, id, startedAtMs }: ProbedContainer, podIp: string) => {
    const stop = childController(tasks.signal);
    const each: Watched = {
      uid: pod.metadata.uid ?? "",
      pod,
      container: container.name,
      states: new Map(),
      stop,
      killing: childController(stop.signal),
      started: Promise.withResolvers(),
    };
    watched.set(id, each);
    const reported = reportedOf(pod, id);
    if (container.startupProbe === undefined || reported?.started === true) each.started.resolve();
    for (const kind of KINDS) {
      const probe = container[`${kind}Probe`];
      if (probe === undefined) continue;
      each.states.set(kind, rememberedState(kind, reported));
      if (kind === "startup" && reported?.started === true) continue;
      const target = { containerId: id, container, podIp };
      const { signal } = kind === "readiness" ? each.stop : each.killing;
      tasks.run(`${kind} probe of ${container.name}`, () =>
        probeLoop(options, { pod, probe, kind, target, each, startedAtMs, signal }),
      );
    }
  };

  const verdict = (id: string, kind: ProbeKind): Verdict => watched.get(id)?.states.get(kind)?.verdict ?? "unknown";
  const end = (id: string, { stop, killing, pod, container }: Watched) => {
    stop.abort();
    killing.abort();
    watched.delete(id);
    options.metrics?.forget(pod, container);
  };

  return {
    watch(pod, running, podIp) {
      const ids = new Set(running.map(({ id }) => id));
      for (const [id, each] of watched) if (each.uid === pod.metadata.uid && !ids.has(id)) end(id, each);
      for (const each of running) if (!watched.has(each.id) && !tasks.signal.aborted) begin(pod, each, podIp);
    },
    verdicts: (id) => ({ startup: verdict(id, "startup"), liveness: verdict(id, "liveness") }),
    readiness: (id) => verdict(id, "readiness"),
    terminating(uid) {
      for (const each of watched.values()) if (each.uid === uid) each.killing.abort();
    },
    forget(uid) {
      for (const [id, each] of watched) if (each.uid === uid) end(id, each);
    },
  };
}

/** The reported status of the same instance. */
function reportedOf({ status }: core.Pod, id: string): core.ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find(({ containerID }) => containerID?.endsWith(`://${id}`));
}

function rememberedState(kind: ProbeKind, reported: core.ContainerStatus | undefined): ProbeState {
  const isGood =
    (kind === "readiness" && reported?.ready === true) || (kind === "startup" && reported?.started === true);
  return isGood ? { ...firstState(kind), verdict: "success" } : firstState(kind);
}

interface Loop {
  readonly pod: core.Pod;
  readonly probe: core.Probe;
  readonly kind: ProbeKind;
  readonly target: Parameters<typeof runProbe>[2];
  readonly each: Watched;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
}

async function probeLoop(options: ProberOptions, loop: Loop): Promise<void> {
  const { clock } = options;
  const { probe, kind, each, startedAtMs, signal } = loop;
  const periodMs = (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
  try {
    if (kind !== "startup") await Promise.race([each.started.promise, aborted(signal)]);
    const firstMs = startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000;
    await clock.sleep(Math.max(0, firstMs - clock.now()), signal);
    for (;;) {
      if (await probeOnce(options, loop)) return;
      await clock.sleep(periodMs, signal);
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  }
}

/** Returns whether the probe is finished. */
async function probeOnce(options: ProberOptions, { pod, probe, kind, target, each, signal }: Loop): Promise<boolean> {
  const startMs = options.clock.monotonic();
  const { ok, output, isWarning } = await runProbe(options, probe, target, signal);
  signal.throwIfAborted();
  const result = ok === undefined ? "unknown" : ok ? "successful" : "failed";
  options.metrics?.count(pod, each.container, kind, result, (options.clock.monotonic() - startMs) / 1000);
  if (ok === undefined) {
    const note = `${WORDS[kind]} probe errored and resulted in unknown state: ${output}`;
    options.events.record(pod, "Warning", "Unhealthy", note);
    return false;
  }
  const before = each.states.get(kind) ?? firstState(kind);
  const after = nextState(before, ok ? "success" : "failure", probe);
  each.states.set(kind, after);
  if (isWarning === true)
    options.events.record(pod, "Warning", "ProbeWarning", `${WORDS[kind]} probe warning: ${output}`);
  if (!ok) options.events.record(pod, "Warning", "Unhealthy", `${WORDS[kind]} probe failed: ${output}`);
  if (kind === "startup" && after.verdict === "success") each.started.resolve();
  if (after.verdict !== before.verdict) options.onVerdict(each.uid, kind, after.verdict);
  return isSettled(kind, after);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
