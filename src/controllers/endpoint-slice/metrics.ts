/**
 * Metrics of EndpointSlices, under Kubernetes' names.
 *
 * 1. Gauges are sums over Services, which are kept for each Service and added up when metrics are scraped.
 */
import type { core } from "#api";
import type { MetricsRegistry } from "#base";
import type { Write } from "../runtime/index.ts";
import { identityOf, portsKey } from "./endpoint.ts";
import type { Slice } from "./placement.ts";

/** 2 to 65536. */
const BUCKETS = Array.from({ length: 15 }, (_, i) => 2 ** (i + 1));
const START = "endpoint_slice_controller_";

/** Of one Service, after its slices were written. */
export interface ServiceFigures {
  readonly endpoints: number;
  readonly slices: number;
  /** The slices that would be enough. */
  readonly desiredSlices: number;
  readonly trafficDistribution: string;
  readonly added: number;
  readonly removed: number;
}

export type SliceMetrics = ReturnType<typeof sliceMetrics>;

export function sliceMetrics(registry: MetricsRegistry) {
  const gauge = (name: string, help: string) =>
    registry.gauge({ name: START + name, help, stability: "BETA" }).labels();
  const histogram = (name: string, help: string) =>
    registry.histogram({ name: START + name, help, buckets: BUCKETS, stability: "BETA" }).labels();
  const endpoints = gauge("endpoints_desired", "Endpoints of all Services with a selector.");
  const slices = gauge("num_endpoint_slices", "EndpointSlices of these Services.");
  const desired = gauge("desired_endpoint_slices", "EndpointSlices that would be enough for these endpoints.");
  const added = histogram("endpoints_added_per_sync", "Endpoints that a reconcile has added.");
  const removed = histogram("endpoints_removed_per_sync", "Endpoints that a reconcile has removed.");
  const byDistribution = registry.gauge({
    name: `${START}services_count_by_traffic_distribution`,
    help: "These Services, by their traffic distribution.",
    labels: ["traffic_distribution"],
    stability: "BETA",
  });
  const changes = registry.counter({
    name: `${START}changes`,
    help: "Writes of EndpointSlices.",
    labels: ["operation"],
    stability: "ALPHA",
  });
  const syncs = registry.counter({
    name: `${START}syncs`,
    help: "Reconciles, by their result.",
    labels: ["result"],
    stability: "ALPHA",
  });
  let services: ReadonlyMap<string, ServiceFigures> = new Map();
  registry.collect(() => {
    const all = [...services.values()];
    const sum = (figure: (each: ServiceFigures) => number) => all.reduce((total, each) => total + figure(each), 0);
    endpoints.set(sum((each) => each.endpoints));
    slices.set(sum((each) => each.slices));
    desired.set(sum((each) => each.desiredSlices));
    byDistribution.clear();
    for (const { trafficDistribution } of all) byDistribution.labels(trafficDistribution).inc();
  });
  return {
    /** The Services that gauges add up, from now on. */
    follow: (known: ReadonlyMap<string, ServiceFigures>): void => {
      services = known;
    },
    synced: (figures: ServiceFigures, failed: boolean): void => {
      added.observe(figures.added);
      removed.observe(figures.removed);
      syncs.labels(failed ? "error" : "success").inc();
    },
    wrote: (verb: Write["verb"]): void => changes.labels(verb).inc(),
  };
}

/** What becomes of a Service by the writes of its plan. */
export function figuresOf(
  service: core.Service,
  before: readonly Slice[],
  writes: readonly Write[],
  maxEndpoints: number,
): ServiceFigures {
  const after = new Map(before.map((slice) => [slice.metadata.name ?? "", slice]));
  let created = 0;
  for (const { verb, object } of writes) {
    if (verb === "create") after.set(`created ${created++}`, object as Slice);
    else if (verb === "delete") after.delete(object.metadata.name ?? "");
    else after.set(object.metadata.name ?? "", object as Slice);
  }
  const [had, has] = [identities(before), identities([...after.values()])];
  const groups = new Map<string, number>();
  for (const { addressType, ports, endpoints } of after.values()) {
    const key = `${addressType} ${portsKey(ports)}`;
    groups.set(key, (groups.get(key) ?? 0) + (endpoints?.length ?? 0));
  }
  let desiredSlices = 0;
  for (const count of groups.values()) desiredSlices += Math.max(1, Math.ceil(count / maxEndpoints));
  return {
    endpoints: has.size,
    slices: after.size,
    desiredSlices,
    trafficDistribution: service.spec?.trafficDistribution ?? "ImplementationDefault",
    added: countOnly(has, had),
    removed: countOnly(had, has),
  };
}

/** An address may be in slices with different ports: it is an endpoint of each. */
function identities(slices: readonly Slice[]): ReadonlySet<string> {
  return new Set(
    slices.flatMap(({ addressType, ports, endpoints }) =>
      (endpoints ?? []).map((each) => `${addressType} ${portsKey(ports)} ${identityOf(each)}`),
    ),
  );
}

function countOnly(these: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let count = 0;
  for (const each of these) if (!others.has(each)) count++;
  return count;
}
