/**
 * How fast Pods of nodes that are down may be evicted, by zone.
 *
 *     Normal             at the full rate
 *     PartialDisruption  most nodes are down: slowly in a large zone, not at all in a small one
 *     FullDisruption     all are down: at the full rate, because other zones can run the Pods
 *     all zones so       not at all, and evictions are cancelled: more likely the control plane is cut off
 *
 * 1. A node that is excluded from disruption checks does not count, but its Pods are evicted like others.
 */
import { type Node, readiness } from "./conditions.ts";
import type { NodeLifecycleSettings } from "./settings.ts";

export type ZoneState = "Initial" | "Normal" | "PartialDisruption" | "FullDisruption";

export interface Zone {
  readonly ready: number;
  readonly down: number;
}

const EXCLUDED = "node.kubernetes.io/exclude-disruption";
/** Fewer nodes down are not a disruption. */
const MIN_DOWN = 3;

export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels["topology.kubernetes.io/region"] ?? labels["failure-domain.beta.kubernetes.io/region"] ?? "";
  const zone = labels["topology.kubernetes.io/zone"] ?? labels["failure-domain.beta.kubernetes.io/zone"] ?? "";
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}

export function isExcluded({ metadata: { labels } }: Node): boolean {
  return labels?.[EXCLUDED] !== undefined;
}

export function zonesOf(nodes: Iterable<Node>): ReadonlyMap<string, Zone> {
  const zones = new Map<string, Zone>();
  for (const node of nodes) {
    const key = zoneOf(node);
    const { ready, down } = zones.get(key) ?? { ready: 0, down: 0 };
    const counts = !isExcluded(node);
    const isReady = readiness(node) === "True";
    zones.set(key, { ready: ready + Number(counts && isReady), down: down + Number(counts && !isReady) });
  }
  return zones;
}

export function stateOf({ ready, down }: Zone, { unhealthyZoneThreshold }: NodeLifecycleSettings): ZoneState {
  if (ready + down === 0) return "Initial";
  if (ready === 0) return "FullDisruption";
  return down >= MIN_DOWN && down / (ready + down) >= unhealthyZoneThreshold ? "PartialDisruption" : "Normal";
}

/** Whether all zones are fully disrupted. */
export function allDisrupted(zones: ReadonlyMap<string, Zone>, settings: NodeLifecycleSettings): boolean {
  const states = [...zones.values()].map((zone) => stateOf(zone, settings)).filter((state) => state !== "Initial");
  return states.length > 0 && states.every((state) => state === "FullDisruption");
}

/** Nodes per second, if not all zones are down. */
export function evictionRate(zone: Zone, settings: NodeLifecycleSettings): number {
  const { evictionsPerSecond, secondaryEvictionsPerSecond, largeClusterSize } = settings;
  if (stateOf(zone, settings) !== "PartialDisruption") return evictionsPerSecond;
  return zone.ready + zone.down > largeClusterSize ? secondaryEvictionsPerSecond : 0;
}
