/** The metric by which operators see the feature gates of a component. */
import type { MetricsRegistry } from "#base";
import type { Features } from "./features.ts";

/** Once for each registry: the components of one process share their features. */
export function registerFeatureMetrics(metrics: MetricsRegistry, features: Features): void {
  const enabled = metrics.gauge({
    name: "kubernetes_feature_enabled",
    help: "Whether a feature gate is on (1) or off (0), and its stage.",
    labels: ["name", "stage"] as const,
    stability: "BETA",
  });
  for (const { name, stage, enabled: on } of features.all()) enabled.labels(name, stage).set(on ? 1 : 0);
}
