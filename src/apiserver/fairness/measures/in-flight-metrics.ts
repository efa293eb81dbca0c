/** How many requests are executed and wait, under the names that priority and fairness and its predecessor share. */
import type { Gauge, MetricsRegistry } from "#base";

export type RequestKind = "readOnly" | "mutating";

export interface InFlightGauges {
  readonly executing: Readonly<Record<RequestKind, Gauge>>;
  readonly waiting: Readonly<Record<RequestKind, Gauge>>;
}

export function inFlightGauges(metrics: MetricsRegistry): InFlightGauges {
  const labels = ["request_kind"] as const;
  const executing = metrics.gauge({
    name: "apiserver_current_inflight_requests",
    help: "The most requests that were executed at a time within the last second.",
    labels,
    stability: "STABLE",
  });
  const waiting = metrics.gauge({
    name: "apiserver_current_inqueue_requests",
    help: "The most requests that waited at a time within the last second.",
    labels,
    stability: "ALPHA",
  });
  return {
    executing: { readOnly: executing.labels("readOnly"), mutating: executing.labels("mutating") },
    waiting: { readOnly: waiting.labels("readOnly"), mutating: waiting.labels("mutating") },
  };
}
