/** What the configuration of containers depends on besides the Pod: the node, as plain values. */

export interface Resolver {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface NodeFacts {
  readonly nodeName: string;
  /** The first is the node's main address. */
  readonly nodeIps: readonly string[];
  /** What containers without a limit may use: quantities by resource. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly memoryCapacityBytes: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The node's own resolv.conf. */
  readonly resolver: Resolver;
  /** The cgroup under which kubepods is: "/" or such as "/k8ts/node-1". */
  readonly cgroupRoot: string;
  /** Where files are that a Localhost seccomp profile names. */
  readonly seccompRoot: string;
  /** Such as /var/log/pods. */
  readonly podLogsRoot: string;
}
