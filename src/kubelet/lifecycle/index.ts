/** The whole public surface of lifecycle. */
export {
  CRASH_BACKOFF,
  type CrashBackoff,
  type CrashBackoffLimits,
  REDUCED_CRASH_BACKOFF,
  startVerdict,
} from "./crash-backoff.ts";
export { DEADLINE_EXCEEDED, deadlineMs, type PodFailure } from "./deadline.ts";
export { isBackedOff, type PullFailure, pullFailed, START_RETRY_MS } from "./pull-backoff.ts";
export { isSidecar, shouldRestart } from "./restart.ts";
export { MIN_TERM_SECONDS, podGraceSeconds, sidecarsInTerminationOrder, termSeconds } from "./termination.ts";
