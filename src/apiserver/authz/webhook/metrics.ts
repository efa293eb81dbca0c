/** Metrics of authorization webhooks, under Kubernetes' names. */
import type { Clock, MetricsRegistry } from "#base";

export type WebhookResult = "success" | "error" | "timeout" | "canceled";
export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const CONDITIONS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const TYPE = "Webhook";

export function webhookMetrics(registry: MetricsRegistry, clock: Clock) {
  const start = "apiserver_authorization";
  const byResult = { labels: ["name", "result"], stability: "BETA" } as const;
  const byName = { labels: ["type", "name"], stability: "ALPHA" } as const;
  const evaluations = registry.counter({
    name: `${start}_webhook_evaluations_total`,
    help: "Calls to authorization webhooks.",
    ...byResult,
  });
  const durations = registry.histogram({
    name: `${start}_webhook_duration_seconds`,
    help: "How long calls to authorization webhooks took.",
    ...byResult,
    buckets: DURATIONS,
  });
  const failedOpen = registry.counter({
    name: `${start}_webhook_evaluations_fail_open_total`,
    help: "Requests about which a webhook has no opinion because it failed.",
    ...byResult,
  });
  const errors = registry.counter({
    name: `${start}_match_condition_evaluation_errors_total`,
    help: "Requests for which a match condition of a webhook could not be evaluated.",
    ...byName,
  });
  const exclusions = registry.counter({
    name: `${start}_match_condition_exclusions_total`,
    help: "Requests that match conditions have excluded from a webhook.",
    ...byName,
  });
  const evaluated = registry.histogram({
    name: `${start}_match_condition_evaluation_seconds`,
    help: "How long the match conditions of a webhook took.",
    ...byName,
    buckets: CONDITIONS,
  });
  const since = (startMs: number) => (clock.monotonic() - startMs) / 1000;
  return {
    called(name: string, result: WebhookResult, startMs: number): void {
      evaluations.labels(name, result).inc();
      durations.labels(name, result).observe(since(startMs));
    },
    failedOpen: (name: string, result: WebhookResult): void => failedOpen.labels(name, result).inc(),
    conditionsEvaluated(name: string, outcome: "matched" | "excluded" | "failed", startMs: number): void {
      evaluated.labels(TYPE, name).observe(since(startMs));
      if (outcome === "excluded") exclusions.labels(TYPE, name).inc();
      if (outcome === "failed") errors.labels(TYPE, name).inc();
    },
  };
}
