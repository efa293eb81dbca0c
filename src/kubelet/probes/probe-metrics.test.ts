import { expect, it } from "vitest";
import { MetricsRegistry } from "#base";
import { probeMetrics } from "./probe-metrics.ts";

it("probes are counted by what they found out, as long as their container is there", () => {
  const registry = new MetricsRegistry();
  const counted = probeMetrics(registry);
  const pod = { metadata: { name: "web", namespace: "default", uid: "u1" } };
  counted.count(pod, "app", "liveness", "successful", 0.01);
  counted.count(pod, "app", "liveness", "failed", 0.02);
  counted.count(pod, "app", "liveness", "failed", 0.02);
  counted.count(pod, "app", "readiness", "unknown", 3);
  const labels = 'container="app",pod="web",namespace="default"';
  const told = registry.text();
  expect(told).toContain(`prober_probe_total{probe_type="Liveness",result="successful",${labels},pod_uid="u1"} 1`);
  expect(told).toContain(`prober_probe_total{probe_type="Liveness",result="failed",${labels},pod_uid="u1"} 2`);
  expect(told).toContain(`prober_probe_total{probe_type="Readiness",result="unknown",${labels},pod_uid="u1"} 1`);
  expect(told).toContain(`prober_probe_duration_seconds_count{probe_type="Liveness",${labels}} 3`);
  expect(told).not.toContain('prober_probe_duration_seconds_count{probe_type="Readiness"');
  counted.forget(pod, "app");
  expect(registry.text()).not.toContain('pod="web"');
});
