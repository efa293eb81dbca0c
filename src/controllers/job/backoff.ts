/**
 * The backoff before failed Pods are replaced: 10 s after the first failure, doubled after each further one, at most 10
 * minutes.
 *
 * 1. Failures are read from the Pods: those that failed since the last success.
 * 2. A Pod that the Job itself deleted is not a failure.
 */
import type { batch } from "#api";
import { isEnding, type Pod } from "../pods/index.ts";
import { earlierFailures, finishedAt, hasFailed, hasSucceeded, isTracked } from "./job-pod.ts";

const FIRST_MS = 10_000;
const LAST_MS = 600_000;

/** For all Pods of a Job. */
export function backoffMs(pods: readonly Pod[], spec: batch.JobSpec, now: number): number {
  const lastSuccess = latest(pods.filter(hasSucceeded).map(finishedAt));
  const failures = pods
    .filter((pod) => hasFailed(pod, spec) && (!isEnding(pod) || isTracked(pod)))
    .map(finishedAt)
    .filter((at) => at > lastSuccess);
  return remainingMs(failures.length, latest(failures), now);
}

function latest(times: readonly number[]): number {
  return times.reduce((last, time) => Math.max(last, time), -Infinity);
}

/** For one index whose last Pod has failed. */
export function indexBackoffMs(last: Pod | undefined, now: number): number {
  if (last === undefined) return 0;
  const { counted, ignored } = earlierFailures(last);
  return remainingMs(counted + ignored + 1, finishedAt(last), now);
}

function remainingMs(failures: number, lastFailure: number, now: number): number {
  if (failures === 0) return 0;
  return Math.max(0, lastFailure + Math.min(LAST_MS, FIRST_MS * 2 ** (failures - 1)) - now);
}
