/** Metrics of nodes and zones, under Kubernetes' names. */
import type { MetricsRegistry } from "#base";
import type { Zone } from "./zones.ts";

const START = "node_collector_";

export function nodeLifecycleMetrics(registry: MetricsRegistry) {
  const gauge = (name: string, help: string) =>
    registry.gauge({ name: START + name, help, labels: ["zone"], stability: "ALPHA" });
  const size = gauge("zone_size", "Nodes of a zone.");
  const health = gauge("zone_health", "Ready nodes of a zone, in percent.");
  const down = gauge("unhealthy_nodes_in_zone", "Nodes of a zone that are not ready.");
  let zones: () => ReadonlyMap<string, Zone> = () => new Map();
  registry.collect(() => {
    for (const each of [size, health, down]) each.clear();
    for (const [zone, { ready, down: unhealthy }] of zones()) {
      const all = ready + unhealthy;
      size.labels(zone).set(all);
      health.labels(zone).set(all === 0 ? 100 : (100 * ready) / all);
      down.labels(zone).set(unhealthy);
    }
  });
  return {
    evictions: registry.counter({
      name: `${START}evictions_total`,
      help: "Nodes whose Pods were evicted because the node is down.",
      labels: ["zone"],
      stability: "STABLE",
    }),
    /** The zones that gauges show, from now on. */
    follow: (now: () => ReadonlyMap<string, Zone>): void => {
      zones = now;
    },
  };
}
