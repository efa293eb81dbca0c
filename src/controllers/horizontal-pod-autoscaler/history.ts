/**
 * What an autoscaler has recommended and done, for stabilization windows and for policies.
 *
 * 1. It is kept in memory only, as in Kubernetes: a controller that starts takes the present size for its first
 *    recommendation, so that nothing shrinks before a window has passed.
 * 2. It is a value: each function returns the next one.
 */
import type { autoscaling } from "#api";

export interface Recommendation {
  readonly replicas: number;
  readonly atMs: number;
}

export interface ScaleEvent {
  /** How many replicas were added, or removed. Positive. */
  readonly change: number;
  readonly atMs: number;
}

export interface History {
  readonly recommendations: readonly Recommendation[];
  readonly added: readonly ScaleEvent[];
  readonly removed: readonly ScaleEvent[];
}

export function firstHistory(replicas: number, now: number): History {
  return { recommendations: [{ replicas, atMs: now }], added: [], removed: [] };
}

export interface Stabilized {
  readonly replicas: number;
  readonly history: History;
}

/** Without a behavior: the highest recommendation within the window. */
export function stabilize(history: History, replicas: number, windowMs: number, now: number): Stabilized {
  const recent = history.recommendations.filter(({ atMs }) => atMs >= now - windowMs);
  return {
    replicas: Math.max(replicas, ...recent.map((each) => each.replicas)),
    history: { ...history, recommendations: [...recent, { replicas, atMs: now }] },
  };
}

export interface Windows {
  readonly upMs: number;
  readonly downMs: number;
}

/** With a behavior: up to the lowest recommendation of its window, down to the highest of the other one. */
export function stabilizeBothWays(
  history: History,
  currentReplicas: number,
  replicas: number,
  { upMs, downMs }: Windows,
  now: number,
): Stabilized {
  const within = (windowMs: number) =>
    history.recommendations.filter(({ atMs }) => atMs > now - windowMs).map((each) => each.replicas);
  const up = Math.min(replicas, ...within(upMs));
  const down = Math.max(replicas, ...within(downMs));
  const recent = history.recommendations.filter(({ atMs }) => atMs >= now - Math.max(upMs, downMs));
  return {
    replicas: Math.min(Math.max(currentReplicas, up), down),
    history: { ...history, recommendations: [...recent, { replicas, atMs: now }] },
  };
}

/** After the target was scaled. Only policies of a behavior need it. */
export function scaled(
  history: History,
  behavior: autoscaling.HorizontalPodAutoscalerBehavior | undefined,
  before: number,
  after: number,
  now: number,
): History {
  if (behavior === undefined || before === after) return history;
  const event = { change: Math.abs(after - before), atMs: now };
  const keep = (events: readonly ScaleEvent[], rules: autoscaling.HPAScalingRules | undefined) => {
    const longestMs = Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds * 1000));
    return [...events.filter(({ atMs }) => atMs >= now - longestMs), event];
  };
  return after > before
    ? { ...history, added: keep(history.added, longer(behavior)) }
    : { ...history, removed: keep(history.removed, longer(behavior)) };
}

/** Changes in both directions matter to policies of both. */
function longer({ scaleUp, scaleDown }: autoscaling.HorizontalPodAutoscalerBehavior): autoscaling.HPAScalingRules {
  return { policies: [...(scaleUp?.policies ?? []), ...(scaleDown?.policies ?? [])] };
}

/** Replicas changed within a period that ends now. */
export function changedWithin(events: readonly ScaleEvent[], periodSeconds: number, now: number): number {
  const since = now - periodSeconds * 1000;
  return events.reduce((sum, { change, atMs }) => (atMs > since ? sum + change : sum), 0);
}
