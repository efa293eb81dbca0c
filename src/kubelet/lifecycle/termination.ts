/** How long a Pod has to end, and in which order its containers do. */
import type { core } from "#api";
import { isSidecar } from "./restart.ts";

const DEFAULT_GRACE_SECONDS = 30;
/** A Pod that is deleted without a grace period still has a second. */
const MIN_DELETION_SECONDS = 1;
/** A container gets at least this between SIGTERM and SIGKILL, unless its Pod has less than that in all. */
export const MIN_TERM_SECONDS = 2;

/** The grace period of the Pod's deletion, otherwise the one of its spec. */
export function podGraceSeconds({ metadata, spec }: core.Pod): number {
  if (metadata.deletionTimestamp !== undefined)
    return Math.max(MIN_DELETION_SECONDS, Number(metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS));
  return Number(spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS);
}

/** The names of a Pod's sidecars in the order of their SIGTERM: after all other containers, the last one first. */
export function sidecarsInTerminationOrder({ spec }: core.Pod): readonly string[] {
  return (spec?.initContainers ?? [])
    .filter(isSidecar)
    .map(({ name }) => name)
    .reverse();
}

/** How long a container of a Pod has between SIGTERM and SIGKILL after a part of the grace period has passed. */
export function termSeconds(graceSeconds: number, passedMs: number, minSeconds = minTermSeconds(graceSeconds)): number {
  return Math.max(minSeconds, graceSeconds - Math.floor(passedMs / 1000));
}

function minTermSeconds(graceSeconds: number): number {
  return graceSeconds < MIN_TERM_SECONDS ? 0 : MIN_TERM_SECONDS;
}
