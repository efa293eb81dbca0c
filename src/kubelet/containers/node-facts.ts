/** What the configuration of containers depends on besides the Pod: the node, as plain values. */

import type { RuntimeHandler } from "../runtime/runtime.ts";
import type { CgroupPlace } from "./cgroup-names.ts";
import type { ResourceRules } from "./resource-rules.ts";

export interface Resolver {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface NodeFacts {
  readonly nodeName: string;
  /** The first is the node's primary address. */
  readonly nodeIps: readonly string[];
  /** Quantities by resource: what containers without a limit may use. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly memoryCapacityBytes: number;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The node's own resolv.conf. */
  readonly resolver: Resolver;
  /** The parent of the cgroup kubepods: "/", or "/k8ts/node-1". */
  readonly cgroupRoot: CgroupPlace;
  /** What the node adds to the resources of containers. Default: nothing. */
  readonly rules?: ResourceRules | undefined;
  /** What the runtime's handlers offer. Default: it does not say. */
  readonly handlers?: readonly RuntimeHandler[] | undefined;
  /** The directory of Localhost seccomp profiles. */
  readonly seccompRoot: string;
  /** Containers that name no seccomp profile get the runtime's, instead of none. */
  readonly seccompDefault: boolean;
  /** For example /var/log/pods. */
  readonly podLogsRoot: string;
}
