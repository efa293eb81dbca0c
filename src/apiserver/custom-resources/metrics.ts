/**
 * Metrics of conversion webhooks, under Kubernetes' names: of each call, and of conversions by definition and version.
 */
import type { Clock, MetricsRegistry } from "#base";
import type { Conversion } from "./conversion-review.ts";
import type { Converter } from "./converter.ts";

const CONVERSION_BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const CALL_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];

export type ConversionMetrics = ReturnType<typeof conversionMetrics>;

export function conversionMetrics(registry: MetricsRegistry, clock: Clock) {
  const durations = registry.histogram({
    name: "apiserver_crd_conversion_webhook_duration_seconds",
    help: "How long conversions by the webhook of a CustomResourceDefinition took.",
    labels: ["crd_name", "from_version", "to_version", "succeeded"],
    buckets: CONVERSION_BUCKETS,
    stability: "ALPHA",
  });
  const byOutcome = { labels: ["result", "failure_type"], stability: "ALPHA" } as const;
  const calls = registry.counter({
    name: "apiserver_conversion_webhook_request_total",
    help: "Calls to conversion webhooks, by result and what went wrong.",
    ...byOutcome,
  });
  const callDurations = registry.histogram({
    name: "apiserver_conversion_webhook_duration_seconds",
    help: "How long calls to conversion webhooks took.",
    ...byOutcome,
    buckets: CALL_BUCKETS,
  });
  return {
    /** Starts the measurement of a call; the returned function ends it. */
    onCall: () => {
      const startMs = clock.monotonic();
      return (outcomes: readonly Conversion[]): void => {
        const labels = callLabels(outcomes);
        calls.labels(...labels).inc();
        callDurations.labels(...labels).observe((clock.monotonic() - startMs) / 1000);
      };
    },
    /** The converter, with its conversions between different versions measured. */
    measured: (crd: string, converter: Converter): Converter => ({
      now: (object, apiVersion) => converter.now(object, apiVersion),
      convert: async (objects, apiVersion) => {
        const startMs = clock.monotonic();
        const converted = await converter.convert(objects, apiVersion);
        const from = versionOf(String(objects[0]?.apiVersion ?? ""));
        const to = versionOf(apiVersion);
        if (from !== to) {
          const succeeded = String(converted.every(({ ok }) => ok));
          durations.labels(crd, from, to, succeeded).observe((clock.monotonic() - startMs) / 1000);
        }
        return converted;
      },
      close: () => converter.close(),
    }),
  };
}

/** The first failure names the call's. */
function callLabels(outcomes: readonly Conversion[]): [result: string, failureType: string] {
  const fault = outcomes.find((outcome) => !outcome.ok);
  if (fault === undefined) return ["success", ""];
  return ["failure", `conversion_webhook_${fault.failure}_failure`];
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf("/") + 1);
}
