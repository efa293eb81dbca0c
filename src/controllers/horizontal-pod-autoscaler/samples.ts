/**
 * What was measured of Pods, and which of them count.
 *
 * 1. Values are thousandths, as bigints: bytes of memory in thousandths exceed what a number holds exactly.
 */
import { type core, parseTime, toMs } from "#api";
import type { AutoscalerSettings } from "./settings.ts";

/** A computation that may fail, in upstream's words. */
export type Computed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export interface PodSample {
  readonly milli: bigint;
  readonly atMs: number;
  readonly windowMs: number;
}

/** By the Pod's name. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface PodGroups {
  readonly readyCount: number;
  /** Pending Pods; for CPU also those that are not ready yet. */
  readonly unready: ReadonlySet<string>;
  /** Pods without a sample. */
  readonly missing: ReadonlySet<string>;
  /** Pods that end or have failed. */
  readonly ignored: ReadonlySet<string>;
}

export type PeriodSettings = Pick<AutoscalerSettings, "cpuInitializationMs" | "initialReadinessDelayMs">;

export function groupPods(
  pods: readonly core.Pod[],
  samples: PodSamples,
  resource: string,
  settings: PeriodSettings,
  now: number,
): PodGroups {
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  let readyCount = 0;
  for (const pod of pods) {
    const { name = "", deletionTimestamp } = pod.metadata;
    const sample = samples.get(name);
    const phase = pod.status?.phase;
    if (deletionTimestamp !== undefined || phase === "Failed") ignored.add(name);
    else if (phase === "Pending") unready.add(name);
    else if (sample === undefined) missing.add(name);
    else if (resource === "cpu" && isCpuUnready(pod, sample, settings, now)) unready.add(name);
    else readyCount++;
  }
  return { readyCount, unready, missing, ignored };
}

/** The CPU of a Pod that starts says nothing about its load. */
function isCpuUnready({ status }: core.Pod, sample: PodSample, settings: PeriodSettings, now: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || status?.startTime === undefined) return true;
  const startedMs = timeMs(status.startTime);
  const changedMs = ready.lastTransitionTime === undefined ? -Infinity : timeMs(ready.lastTransitionTime);
  const isUnready = ready.status === "False";
  if (startedMs + settings.cpuInitializationMs > now) return isUnready || sample.atMs < changedMs + sample.windowMs;
  return isUnready && startedMs + settings.initialReadinessDelayMs > changedMs;
}

function timeMs(text: string): number {
  return toMs(parseTime(text));
}

/** Running and ready: those that a metric of another object is spread over. */
export function readyPods(pods: readonly core.Pod[]): number {
  return pods.filter(
    ({ status }) =>
      status?.phase === "Running" &&
      status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true,
  ).length;
}
