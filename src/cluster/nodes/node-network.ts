/**
 * How a cluster's nodes on this machine reach each other, this machine and others: two kinds.
 *
 *     switch     each node has a network of its own, joined by a switch        switched-network.ts
 *     machine    the only node has this machine's network: others can join     machine-network.ts
 */
import type { KubeletOptions } from "./programs/kubelet.ts";
import type { NamedRegistry } from "./site/mirrors.ts";
import type { NodeNames } from "./site/names.ts";
import type { NodeRecord, NodeRun } from "./site/record.ts";
import type { SiteNetwork } from "./site/site-network.ts";

export interface NodeNetwork {
  readonly kind: "switch" | "machine";
  /** This machine's address for nodes: the API server listens there. */
  readonly machineIp: string;
  readonly machineIp6?: string | undefined;
  readonly podRanges: readonly string[];
  /** The largest packet of Pods. */
  readonly mtu: number;
  readonly maxNodes: number;
  /** Where nodes reach the pull proxy and the DNS relay. */
  readonly relays: { readonly host: string; readonly pullProxy: number; readonly dns: number };
  /** The secret of containerds for the pull proxy. */
  readonly pullSecret: string;
  /** The ranges of the switch. */
  readonly site?: SiteNetwork | undefined;
  /** Flags of the nodes' network agents that follow from it. */
  readonly agent: Pick<KubeletOptions, "overlay" | "masqueradesOutside">;
  /** The addresses of a new node. */
  addressesOf(index: number): Pick<NodeRun, "ip" | "ip6">;
  /** Before any node starts, and again in each round: what nodes reach of this machine, and the way out. */
  keep(kubelet: KubeletOptions, registries: readonly NamedRegistry[]): Promise<void>;
  /** Idempotent. `makeNamespace`: how its namespace is made where it is not one of the machine's user namespace. */
  ensureLink(names: NodeNames, run: NodeRun, makeNamespace?: () => Promise<void>): Promise<void>;
  /** Routes to Pods on other nodes of this machine, and from the machine to all. */
  route(records: readonly NodeRecord[]): Promise<void>;
}
