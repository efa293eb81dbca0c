/** Flags of kube-controller-manager about node failures. */

export interface NodeLifecycleSettings {
  /** `--node-monitor-grace-period`: a node without a heartbeat for this long is Unknown. */
  readonly monitorGraceMs: number;
  /** `--node-startup-grace-period`: the same for a node without any heartbeat yet. */
  readonly startupGraceMs: number;
  /** `--node-monitor-period`: delay before zones are checked, so that simultaneous failures are seen together. */
  readonly monitorPeriodMs: number;
  /** `--node-eviction-rate`: evicted nodes per second in a healthy zone. */
  readonly evictionsPerSecond: number;
  /** `--secondary-node-eviction-rate`: the same in a large unhealthy zone. */
  readonly secondaryEvictionsPerSecond: number;
  /** `--large-cluster-size-threshold`: in a disrupted zone with at most this many nodes, there are no evictions. */
  readonly largeClusterSize: number;
  /** `--unhealthy-zone-threshold`: the share of nodes that must be down for a zone to be disrupted. */
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
