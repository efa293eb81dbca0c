/**
 * The trigger time of endpoints: the earliest change among their new or changed Pods, or the creation of a new Service.
 * Tools that measure network programming latency read it from an annotation.
 */
import type { core } from "#api";
import { readyCondition } from "../pods/index.ts";

export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** `created`: the Service had no endpoints before. */
export function earliestTrigger(
  service: core.Service,
  created: boolean,
  changed: Iterable<core.Pod>,
): string | undefined {
  const times = [...changed].map((pod) => readyCondition(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  const all = [...times, created ? service.metadata.creationTimestamp : undefined].filter((time) => time !== undefined);
  // Times are in UTC and have the same length, so they sort as strings.
  return all.sort()[0];
}

export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Readonly<Record<string, string>> {
  const { [TRIGGER_TIME]: _, ...rest } = annotations ?? {};
  return time === undefined ? rest : { ...rest, [TRIGGER_TIME]: time };
}
