/**
 * When that happened for which endpoints are written: of the Pods that are new or changed in them the earliest change, and for a new Service its
 * creation. Whoever measures how long programming takes reads it from an annotation.
 */
import type { core } from "#api";
import { readyCondition } from "../pods/index.ts";

export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** `created`: whether the Service has had no endpoints so far. */
export function earliestTrigger(
  service: core.Service,
  created: boolean,
  changed: Iterable<core.Pod>,
): string | undefined {
  const times = [...changed].map((pod) => readyCondition(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  const all = [...times, created ? service.metadata.creationTimestamp : undefined].filter((time) => time !== undefined);
  // Times are all in UTC and of one length: they sort as texts.
  return all.sort()[0];
}

export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Readonly<Record<string, string>> {
  const { [TRIGGER_TIME]: _, ...rest } = annotations ?? {};
  return time === undefined ? rest : { ...rest, [TRIGGER_TIME]: time };
}
