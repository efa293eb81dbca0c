/** Metrics of autoscalers, under Kubernetes' names. */
import type { MetricsRegistry } from "#base";
import type { Decision } from "./decide.ts";
import type { Evaluated } from "./evaluate.ts";

const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const START = "horizontal_pod_autoscaler_controller_";

export type Action = "scale_up" | "scale_down" | "none";
/** What failed: something here or in the cluster (internal), or what the autoscaler asks for (spec). */
export type ErrorLabel = "none" | "internal" | "spec";

export function autoscalerMetrics(registry: MetricsRegistry) {
  return {
    reconciliations: registry.counter({
      name: `${START}reconciliations_total`,
      help: "Reconciles of autoscalers, by what they decided.",
      labels: ["action", "error"],
      stability: "BETA",
    }),
    seconds: registry.histogram({
      name: `${START}reconciliation_duration_seconds`,
      help: "How long reconciles of autoscalers took.",
      labels: ["action", "error"],
      buckets: BUCKETS,
      stability: "BETA",
    }),
    computations: registry.counter({
      name: `${START}metric_computation_total`,
      help: "Metrics that were computed, by what each of them proposed.",
      labels: ["action", "error", "metric_type"],
      stability: "BETA",
    }),
    computationSeconds: registry.histogram({
      name: `${START}metric_computation_duration_seconds`,
      help: "How long it took to read a metric.",
      labels: ["action", "error", "metric_type"],
      buckets: BUCKETS,
      stability: "BETA",
    }),
  };
}

/** Of a whole reconcile. */
export function outcomeOf({ rescale, error }: Pick<Decision, "rescale" | "error">, current: number) {
  const action: Action = rescale === undefined ? "none" : actionOf(rescale.replicas, current);
  return { action, error: (error === undefined ? "none" : "internal") satisfies ErrorLabel };
}

/** Of one metric. */
export function proposalOf(evaluated: Evaluated, current: number): { action: Action; error: ErrorLabel } {
  if (evaluated.ok) return { action: actionOf(evaluated.proposal.replicas, current), error: "none" };
  return { action: "none", error: evaluated.reason === "InvalidMetricSourceType" ? "spec" : "internal" };
}

function actionOf(wanted: number, current: number): Action {
  if (wanted === current) return "none";
  return wanted > current ? "scale_up" : "scale_down";
}
