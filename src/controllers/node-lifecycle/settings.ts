/** How patient the controller is with nodes, as the flags of kube-controller-manager say it. */

export interface NodeLifecycleSettings {
  /** `--node-monitor-grace-period`: without a sign of life for so long, nothing is known of a node. */
  readonly monitorGraceMs: number;
  /** `--node-startup-grace-period`: the same for a node that has not said anything yet. */
  readonly startupGraceMs: number;
  /** `--node-monitor-period`: so long after a node went down, zones are looked at: those that fail together are seen together. */
  readonly monitorPeriodMs: number;
  /** `--node-eviction-rate`: nodes whose Pods may be driven out, each second, in a zone that is well. */
  readonly evictionsPerSecond: number;
  /** `--secondary-node-eviction-rate`: the same in a large zone that is not. */
  readonly secondaryEvictionsPerSecond: number;
  /** `--large-cluster-size-threshold`: a zone with no more nodes is small; where it is disrupted, nobody is driven out. */
  readonly largeClusterSize: number;
  /** `--unhealthy-zone-threshold`: which part of the nodes must be down for a zone to count as disrupted. */
  readonly unhealthyZoneThreshold: number;
}

export const DEFAULT_SETTINGS: NodeLifecycleSettings = {
  monitorGraceMs: 50_000,
  startupGraceMs: 60_000,
  monitorPeriodMs: 5_000,
  evictionsPerSecond: 0.1,
  secondaryEvictionsPerSecond: 0.01,
  largeClusterSize: 50,
  unhealthyZoneThreshold: 0.55,
};
