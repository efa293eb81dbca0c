/**
 * Gives every node ranges of addresses for its Pods, which no other node has.
 *
 *     Nodes --► NodeCidrs          what they have is taken, what they had is free
 *           --► node … ──► planCidrs ══► spec.podCIDR, spec.podCIDRs
 *
 * 1. Nodes that are there are heard before any range is given: a cache tells all that it has before a key is worked on.
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

/** Throws CidrPoolError for ranges that cannot be given. Without a range, nodes are left to others. */
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
