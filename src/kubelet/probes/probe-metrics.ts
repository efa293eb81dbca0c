/** Metrics of probe results, for /metrics/probes. */
import type { core } from "#api";
import type { MetricsRegistry } from "#base";
import type { ProbeKind } from "./probe-state.ts";

const WORDS = { startup: "Startup", liveness: "Liveness", readiness: "Readiness" } as const;
const RESULTS = ["successful", "failed", "unknown"] as const;
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export type ProbeResult = (typeof RESULTS)[number];

export interface ProbeMetrics {
  count(pod: core.Pod, container: string, kind: ProbeKind, result: ProbeResult, seconds: number): void;
  /** The container is gone. */
  forget(pod: core.Pod, container: string): void;
}

export function probeMetrics(metrics: MetricsRegistry): ProbeMetrics {
  const total = metrics.counter({
    name: "prober_probe_total",
    help: "Cumulative number of a liveness, readiness or startup probe for a container by result.",
    labels: ["probe_type", "result", "container", "pod", "namespace", "pod_uid"],
    stability: "BETA",
  });
  const duration = metrics.histogram({
    name: "prober_probe_duration_seconds",
    help: "Duration in seconds for a probe response.",
    labels: ["probe_type", "container", "pod", "namespace"],
    buckets: BUCKETS,
  });
  return {
    count({ metadata: { name = "", namespace = "", uid = "" } }, container, kind, result, seconds) {
      total.labels(WORDS[kind], result, container, name, namespace, uid).inc();
      if (result !== "unknown") duration.labels(WORDS[kind], container, name, namespace).observe(seconds);
    },
    forget({ metadata: { name = "", namespace = "", uid = "" } }, container) {
      for (const word of Object.values(WORDS)) {
        for (const result of RESULTS) total.remove(word, result, container, name, namespace, uid);
        duration.remove(word, container, name, namespace);
      }
    },
  };
}
