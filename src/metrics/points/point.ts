/** One measurement of a node or of a container, as its kubelet reports it. */
export interface Point {
  readonly atMs: number;
  /** Undefined: the kubelet does not say. */
  readonly startedAtMs: number | undefined;
  /** Since the start. */
  readonly cpuNanoSeconds: number;
  readonly memoryBytes: number;
}

/** What one kubelet reports at a time. */
export interface NodePoints {
  /** Undefined: it is incomplete. */
  readonly node: Point | undefined;
  /** By `namespace/name`, then by container. Pods with an incomplete container are left out. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Point>>;
}
