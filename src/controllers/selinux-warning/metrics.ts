/** The conflicts of now, read when metrics are scraped. */
import type { MetricsRegistry } from "#base";
import type { Conflict } from "./conflicts.ts";

export interface ConflictMetrics {
  /** The returned function ends it. */
  follow(conflicts: () => readonly Conflict[]): () => void;
}

export function conflictMetrics(registry: MetricsRegistry): ConflictMetrics {
  const pod = (at: 1 | 2) => [`pod${at}_namespace`, `pod${at}_name`, `pod${at}_value`] as const;
  const gauge = registry.gauge({
    name: "selinux_warning_controller_selinux_volume_conflict",
    help: "Two Pods that use the same volume with different SELinux labels or policies.",
    labels: ["property", ...pod(1), ...pod(2)],
    stability: "ALPHA",
  });
  let read: (() => readonly Conflict[]) | undefined;
  registry.collect(() => {
    gauge.clear();
    for (const { property, pod: one, value, otherPod, otherValue } of read?.() ?? []) {
      const [namespace = "", name = ""] = one.split("/");
      const [otherNamespace = "", otherName = ""] = otherPod.split("/");
      gauge.labels(property, namespace, name, value, otherNamespace, otherName, otherValue).set(1);
    }
  });
  return {
    follow(conflicts) {
      read = conflicts;
      return () => {
        if (read === conflicts) read = undefined;
      };
    },
  };
}
