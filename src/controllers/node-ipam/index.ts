/**
 * Gives every node pod CIDRs of its own.
 *
 *     Nodes --► NodeCidrs          CIDRs of Nodes are occupied, those of deleted Nodes are released
 *           --► node … ──► planCidrs ══► spec.podCIDR, spec.podCIDRs
 *
 * 1. Existing Nodes are processed before any CIDR is given out: a cache delivers its objects before a key is
 *    reconciled.
 */
import { kinds } from "#api";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import { checkRanges, cidrsOf, NodeCidrs, type NodeCidrsOptions } from "./node-cidrs.ts";
import { planCidrs } from "./plan.ts";

export { CidrPoolError } from "./cidr-pool.ts";
export type { NodeCidrsOptions } from "./node-cidrs.ts";

const DEFAULTS: NodeCidrsOptions = {
  clusterCidrs: ["10.244.0.0/16"],
  maskSize: { ipv4: 24, ipv6: 64 },
  serviceCidrs: [],
};

/** Throws CidrPoolError for unusable CIDRs. Without a CIDR, nothing is given out. */
export function nodeIpamController(options: Partial<NodeCidrsOptions> = {}): Controller {
  const settings = { ...DEFAULTS, ...options };
  if (settings.clusterCidrs.length > 0) checkRanges(settings);
  return defineController({
    name: "node-ipam-controller",
    account: "node-controller",
    reportsAs: "cidrAllocator",
    bind({ cache }) {
      if (settings.clusterCidrs.length === 0) return { sources: [], reconcile: () => undefined };
      const nodes = cache(kinds.Node);
      const ranges = new NodeCidrs(settings);
      const without = nodes.index("withoutPodCidr", (node) => (cidrsOf(node).length === 0 ? ["yes"] : []));
      return {
        sources: [
          keysFrom(kinds.Node, (change) => {
            const { type, object, old } = change;
            const freed = ranges.follow(change);
            if (freed) return without("yes").map(({ metadata }) => metadata.name ?? "");
            const isNew = type === "added" || (type === "updated" && old.metadata.uid !== object.metadata.uid);
            return isNew && cidrsOf(object).length === 0 ? [object.metadata.name ?? ""] : [];
          }),
        ],
        reconcile(key) {
          const node = nodes.get(key);
          if (node === undefined || cidrsOf(node).length > 0) return undefined;
          return planCidrs(node, ranges.give(key));
        },
      };
    },
  });
}
