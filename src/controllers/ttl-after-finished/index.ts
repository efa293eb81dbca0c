/**
 * Deletes finished Jobs after `spec.ttlSecondsAfterFinished`.
 *
 * 1. A Job is deleted with a precondition on resourceVersion: its TTL may just have been extended.
 */
import { type batch, kinds, parseTime, toMs } from "#api";
import { changesOf, defineController, type Plan } from "../runtime/index.ts";

export const ttlAfterFinished = defineController({
  name: "ttl-after-finished-controller",
  bind({ cache }) {
    const jobs = cache(kinds.Job);
    return {
      sources: [changesOf(kinds.Job, ({ object }) => expiresAt(object) !== undefined)],
      reconcile: (key, now) => {
        const job = jobs.get(key);
        return job === undefined ? undefined : planExpiry(job, now);
      },
    };
  },
});

export function planExpiry(job: batch.Job, now: number): Plan | undefined {
  const at = expiresAt(job);
  if (at === undefined) return undefined;
  if (at > now) return { againAfterMs: at - now };
  return {
    steps: [[{ verb: "delete", resource: kinds.Job, object: job, propagationPolicy: "Foreground", unchanged: true }]],
  };
}

function expiresAt({ metadata, spec, status }: batch.Job): number | undefined {
  const ttlSeconds = spec?.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const end = status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  if (end?.lastTransitionTime === undefined) return undefined;
  return toMs(parseTime(end.lastTransitionTime)) + ttlSeconds * 1000;
}
