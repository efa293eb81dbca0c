/** Metrics of a node's start and end, as gauges that are set once. */
import { uptime } from "node:os";
import type { core } from "#api";
import type { Clock, MetricsRegistry } from "#base";

export interface NodeStartup {
  /** The kubelet begins to register its Node. */
  registering(): void;
  registered(): void;
  /** The Node is Ready. */
  ready(): void;
}

export interface NodeStartTimes {
  readonly machineMs: number;
  readonly kubeletMs: number;
}

/** Of this machine and this process. */
export function startupOf({
  metrics,
  clock,
}: {
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
}): NodeStartup {
  const nowMs = clock.now();
  const times = { machineMs: nowMs - uptime() * 1000, kubeletMs: nowMs - process.uptime() * 1000 };
  return nodeStartup(metrics, clock, times);
}

export function isReady({ status }: core.Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

export function nodeStartup(
  metrics: MetricsRegistry,
  clock: Clock,
  { machineMs, kubeletMs }: NodeStartTimes,
): NodeStartup {
  const duration = (name: string, help: string) =>
    metrics.gauge({ name: `kubelet_node_startup_${name}duration_seconds`, help }).labels();
  const preKubelet = duration("pre_kubelet_", "Duration in seconds of node startup before kubelet starts.");
  const preRegistration = duration("pre_registration_", "Duration in seconds of node startup before registration.");
  const registration = duration("registration_", "Duration in seconds of node startup during registration.");
  const postRegistration = duration("post_registration_", "Duration in seconds of node startup after registration.");
  const total = duration("", "Duration in seconds of node startup in total.");
  let [attemptedMs, registeredMs, isReady] = [kubeletMs, kubeletMs, false];
  return {
    registering() {
      attemptedMs = clock.now();
      preKubelet.set((kubeletMs - machineMs) / 1000);
      preRegistration.set((attemptedMs - kubeletMs) / 1000);
    },
    registered() {
      registeredMs = clock.now();
      registration.set((registeredMs - attemptedMs) / 1000);
    },
    ready() {
      if (isReady) return;
      isReady = true;
      postRegistration.set((clock.now() - registeredMs) / 1000);
      total.set((clock.now() - machineMs) / 1000);
    },
  };
}

export function shutdownMetrics(metrics: MetricsRegistry, clock: Clock): { begun(): void; ended(): void } {
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `kubelet_graceful_shutdown_${name}_time_seconds`, help }).labels();
  const start = gauge("start", "Last graceful shutdown start time since unix epoch in seconds");
  const end = gauge("end", "Last graceful shutdown end time since unix epoch in seconds");
  return { begun: () => start.set(clock.now() / 1000), ended: () => end.set(clock.now() / 1000) };
}

export function cgroupVersionMetric(metrics: MetricsRegistry, version: number): void {
  metrics.gauge({ name: "kubelet_cgroup_version", help: "cgroup version on the hosts." }).labels().set(version);
}
