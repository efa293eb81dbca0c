/** kubelet_device_plugin_*: registrations, and how long allocations take. */
import type { MetricsRegistry } from "#base";
import { SECONDS } from "../runtime/buckets.ts";

export interface DevicePluginMetrics {
  registered(resource: string): void;
  allocated(resource: string, seconds: number): void;
}

export const unmeasured: DevicePluginMetrics = { registered: () => {}, allocated: () => {} };

export function devicePluginMetrics(metrics: MetricsRegistry): DevicePluginMetrics {
  const registrations = metrics.counter({
    name: "kubelet_device_plugin_registration_total",
    help: "Cumulative number of device plugin registrations. Broken down by resource name.",
    labels: ["resource_name"],
  });
  const seconds = metrics.histogram({
    name: "kubelet_device_plugin_alloc_duration_seconds",
    help: "Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.",
    labels: ["resource_name"],
    buckets: SECONDS,
  });
  return {
    registered: (resource) => registrations.labels(resource).inc(),
    allocated: (resource, took) => seconds.labels(resource).observe(took),
  };
}
