/** Metrics of conversion webhooks, under Kubernetes' names. */
import type { Clock, MetricsRegistry } from "#base";
import type { Converter } from "./converter.ts";

const CONVERSION_BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);

export type ConversionMetrics = ReturnType<typeof conversionMetrics>;

export function conversionMetrics(registry: MetricsRegistry, clock: Clock) {
  const durations = registry.histogram({
    name: "apiserver_crd_conversion_webhook_duration_seconds",
    help: "How long conversions by the webhook of a CustomResourceDefinition took.",
    labels: ["crd_name", "from_version", "to_version", "succeeded"],
    buckets: CONVERSION_BUCKETS,
    stability: "ALPHA",
  });
  return {
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

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf("/") + 1);
}
