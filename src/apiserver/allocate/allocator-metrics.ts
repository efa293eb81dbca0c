/** Metrics of the addresses and ports of Services, under Kubernetes' names. */
import type { Clock, MetricsRegistry } from "#base";
import type { AddressRange } from "./address-range.ts";
import type { PortRange } from "./node-ports.ts";

/** Whether the Service has named what it takes. */
export type Scope = "static" | "dynamic";

const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface AddressMetrics {
  /** `startMs`: by the monotonic clock. */
  allocated(cidr: string, scope: Scope, isAllocated: boolean, startMs: number): void;
}

/** `stock`: the ranges, and the addresses that are taken; looked at when metrics are read. */
export function addressMetrics(
  metrics: MetricsRegistry,
  clock: Clock,
  stock: { ranges(): readonly AddressRange[]; taken(): Iterable<{ readonly address: string }> },
): AddressMetrics {
  const name = (what: string) => `kube_apiserver_clusterip_allocator_${what}`;
  const byRange = ["cidr"] as const;
  const stability = "ALPHA";
  const allocated = metrics.gauge({
    name: name("allocated_ips"),
    help: "Addresses of Services that are taken, by range.",
    labels: byRange,
    stability,
  });
  const available = metrics.gauge({
    name: name("available_ips"),
    help: "Addresses that are left for Services, by range.",
    labels: byRange,
    stability,
  });
  const byScope = ["cidr", "scope"] as const;
  const total = metrics.counter({
    name: name("allocation_total"),
    help: "Addresses that were taken, by range, and whether the Service named them.",
    labels: byScope,
    stability,
  });
  const errors = metrics.counter({
    name: name("allocation_errors_total"),
    help: "Addresses that could not be taken, by range, and whether the Service named them.",
    labels: byScope,
    stability,
  });
  const seconds = metrics.histogram({
    name: name("allocation_duration_seconds"),
    help: "How long it took to take an address, by range.",
    labels: byRange,
    buckets: DURATIONS,
    stability,
  });
  metrics.collect(() => {
    const ranges = stock.ranges();
    const counts = new Map(ranges.map(({ cidr }) => [cidr, 0]));
    for (const { address } of stock.taken()) {
      const range = ranges
        .filter((each) => each.placeOf(address) !== undefined)
        .reduce<AddressRange | undefined>(
          (a, b) => (a === undefined || b.prefixLength > a.prefixLength ? b : a),
          undefined,
        );
      if (range !== undefined) counts.set(range.cidr, (counts.get(range.cidr) ?? 0) + 1);
    }
    allocated.clear();
    available.clear();
    for (const { cidr, first, last } of ranges) {
      const count = counts.get(cidr) ?? 0;
      allocated.labels(cidr).set(count);
      available.labels(cidr).set(last - first + 1 - count);
    }
  });
  return {
    allocated(cidr, scope, isAllocated, startMs) {
      (isAllocated ? total : errors).labels(cidr, scope).inc();
      if (isAllocated) seconds.labels(cidr).observe((clock.monotonic() - startMs) / 1000);
    },
  };
}

export interface PortMetrics {
  allocated(scope: Scope, isAllocated: boolean): void;
}

export function portMetrics(metrics: MetricsRegistry, { first, last }: PortRange, taken: () => number): PortMetrics {
  const name = (what: string) => `kube_apiserver_nodeport_allocator_${what}`;
  const stability = "ALPHA";
  const allocated = metrics.gauge({ name: name("allocated_ports"), help: "Node ports that are taken.", stability });
  const available = metrics.gauge({ name: name("available_ports"), help: "Node ports that are left.", stability });
  const total = metrics.counter({
    name: name("allocation_total"),
    help: "Node ports that were taken, by whether the Service named them.",
    labels: ["scope"],
    stability,
  });
  const errors = metrics.counter({
    name: name("allocation_errors_total"),
    help: "Node ports that could not be taken, by whether the Service named them.",
    labels: ["scope"],
    stability,
  });
  metrics.collect(() => {
    allocated.labels().set(taken());
    available.labels().set(last - first + 1 - taken());
  });
  return { allocated: (scope, isAllocated) => (isAllocated ? total : errors).labels(scope).inc() };
}
