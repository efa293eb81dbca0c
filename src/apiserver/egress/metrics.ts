/** Metrics of dialing through proxies, under Kubernetes' names. */
import type { Clock, MetricsRegistry } from "#base";

export type DialMetrics = ReturnType<typeof dialMetrics>;
/** Where a dial failed: at reaching the proxy, or at what the proxy was asked for. */
export type DialStage = "connect" | "proxy";

const SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

export function dialMetrics(registry: MetricsRegistry, clock: Clock) {
  const prefix = "apiserver_egress_dialer_dial";
  const by = { labels: ["protocol", "transport"], stability: "ALPHA" } as const;
  const starts = registry.counter({
    name: `${prefix}_start_total`,
    help: "Connections that were begun through a proxy.",
    ...by,
  });
  const durations = registry.histogram({
    name: `${prefix}_duration_seconds`,
    help: "How long it took to connect through a proxy.",
    ...by,
    buckets: SECONDS,
  });
  const failures = registry.counter({
    name: `${prefix}_failure_count`,
    help: "Connections through a proxy that failed, by the stage at which they did.",
    ...by,
    labels: [...by.labels, "stage"],
  });
  /** `protocol`: http_connect or grpc. `transport`: tcp or uds. */
  return (protocol: string, transport: string) => {
    starts.labels(protocol, transport).inc();
    const since = clock.monotonic();
    return {
      succeeded: () => durations.labels(protocol, transport).observe((clock.monotonic() - since) / 1000),
      failed: (stage: DialStage) => failures.labels(protocol, transport, stage).inc(),
    };
  };
}
