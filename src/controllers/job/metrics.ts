/**
 * Metrics of Jobs, under Kubernetes' names.
 *
 * 1. Pods count as finished when the status has counted them, and as handled by a failure policy when they are let go:
 *    each once, wherever the controller is interrupted.
 */
import type { batch, core } from "#api";
import type { Clock, MetricsRegistry } from "#base";
import type { Change } from "#client";
import { isFinished, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import { countIndexes, readIndexes } from "./indexes.ts";
import { hasFailed, isTracked } from "./job-pod.ts";
import { conditionOf, type Job, judgementOf } from "./job-view.ts";

const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.004 * 2 ** i);
const MODE = "completion_mode";

export type JobMetrics = ReturnType<typeof jobMetrics>;

export function jobMetrics(registry: MetricsRegistry) {
  return {
    seconds: registry.histogram({
      name: "job_controller_job_sync_duration_seconds",
      help: "How long reconciles of Jobs took, with their writes.",
      labels: [MODE, "result", "action"],
      buckets: BUCKETS,
      stability: "STABLE",
    }),
    syncs: registry.counter({
      name: "job_controller_job_syncs_total",
      help: "Reconciles of Jobs.",
      labels: [MODE, "result", "action"],
      stability: "STABLE",
    }),
    finished: registry.counter({
      name: "job_controller_jobs_finished_total",
      help: "Jobs that have succeeded or failed.",
      labels: [MODE, "result", "reason"],
      stability: "STABLE",
    }),
    podsFinished: registry.counter({
      name: "job_controller_job_pods_finished_total",
      help: "Pods that Jobs have counted.",
      labels: [MODE, "result"],
      stability: "STABLE",
    }),
    byPolicy: registry.counter({
      name: "job_controller_pod_failures_handled_by_failure_policy_total",
      help: "Failed Pods for which a rule of a pod failure policy decided, by its action.",
      labels: ["action"],
      stability: "BETA",
    }),
    tracking: registry.counter({
      name: "job_controller_terminated_pods_tracking_finalizer_total",
      help: "Ended Pods that got (add) or lost (delete) the finalizer by which Jobs count them.",
      labels: ["event"],
      stability: "BETA",
    }),
  };
}

/** Counts what the plan of a Job does. */
export function counting(metrics: JobMetrics, job: Job, plan: Plan, clock: Clock): Plan {
  const startMs = clock.monotonic();
  const mode = modeOf(job);
  const { eventFor } = plan;
  return {
    ...plan,
    eventFor: (write, outcome) => {
      if (outcome.ok) noteWrite(metrics, job, write);
      return eventFor?.call(plan, write, outcome);
    },
    done: (failures) => {
      const labels = [mode, failures.length > 0 ? "error" : "success", actionOf(plan)] as const;
      metrics.syncs.labels(...labels).inc();
      metrics.seconds.labels(...labels).observe((clock.monotonic() - startMs) / 1000);
    },
  };
}

/** A Pod ended with the finalizer, or an ended Pod lost it. */
export function countTracking({ tracking }: JobMetrics, { type, object, old }: Change<core.Pod>): void {
  const counts = (pod: Pod | undefined) => pod !== undefined && isFinished(pod) && isTracked(pod);
  const [before, now] = type === "deleted" ? [counts(object), false] : [counts(old), counts(object)];
  if (before !== now) tracking.labels(now ? "add" : "delete").inc();
}

function noteWrite(metrics: JobMetrics, job: Job, write: Write): void {
  if (write.verb === "updateStatus") noteStatus(metrics, job, (write.object as Job).status ?? {});
  // Of its Pods, only those that are let go are patched.
  if (write.verb !== "patch" || job.spec === undefined) return;
  const pod = write.object as Pod;
  const { action } = hasFailed(pod, job.spec) ? judgementOf(job.spec, pod) : {};
  if (action !== undefined) metrics.byPolicy.labels(action).inc();
}

function noteStatus({ finished, podsFinished }: JobMetrics, job: Job, next: batch.JobStatus): void {
  const mode = modeOf(job);
  const before = job.status ?? {};
  const succeeded = successesOf(job, next) - successesOf(job, before);
  const failed = (next.failed ?? 0) - (before.failed ?? 0);
  if (succeeded > 0) podsFinished.labels(mode, "succeeded").inc(succeeded);
  if (failed > 0) podsFinished.labels(mode, "failed").inc(failed);
  for (const [type, result] of [
    ["Complete", "succeeded"],
    ["Failed", "failed"],
  ] as const) {
    const condition = conditionOf(next, type);
    if (condition?.status !== "True" || conditionOf(before, type)?.status === "True") continue;
    finished.labels(mode, result, condition.reason ?? "").inc();
  }
}

/** Successes of an index count through the index. */
function successesOf({ spec }: Job, { succeeded = 0, completedIndexes = "" }: batch.JobStatus): number {
  if (spec?.completionMode !== "Indexed") return succeeded;
  return countIndexes(readIndexes(completedIndexes, spec.completions ?? 0));
}

function modeOf({ spec }: Job): string {
  return spec?.completionMode ?? "NonIndexed";
}

function actionOf({ steps = [] }: Plan): string {
  const writes = steps.flat();
  if (writes.some(({ verb }) => verb === "create")) return "pods_created";
  if (writes.some(({ verb }) => verb === "delete")) return "pods_deleted";
  return writes.length > 0 ? "tracking" : "reconciling";
}
