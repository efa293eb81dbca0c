import { expect, it } from "vitest";
import { MetricsRegistry } from "#base";
import { healthMetrics } from "./health-metrics.ts";

it("each check has its last result, and is counted", () => {
  const metrics = new MetricsRegistry();
  const observe = healthMetrics(metrics);
  observe("etcd", "livez", true);
  observe("etcd", "livez", false);
  observe("ping", "readyz", true);
  expect(metrics.text().split("\n")).toEqual(
    expect.arrayContaining([
      'kubernetes_healthcheck{name="etcd",type="livez"} 0',
      'kubernetes_healthcheck{name="ping",type="readyz"} 1',
      'kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 1',
      'kubernetes_healthchecks_total{name="etcd",status="error",type="livez"} 1',
    ]),
  );
});
