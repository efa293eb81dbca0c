/** Lost events: counted, and logged once for each failure. */
import type { Logger, MetricsRegistry } from "#base";

export type Failed = (plugin: string, error: unknown, events: number) => void;

export function failureCounter(metrics: MetricsRegistry, log: Logger): Failed {
  const errors = metrics.counter({
    name: "apiserver_audit_error_total",
    help: "Audit events that could not be recorded, by the part that failed.",
    labels: ["plugin"],
  });
  return (plugin, error, events) => {
    errors.labels(plugin).inc(events);
    log.error("audit events are lost", { plugin, events, error });
  };
}
