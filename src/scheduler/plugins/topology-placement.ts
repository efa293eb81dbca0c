/**
 * TopologyPlacement: a group with a topology constraint is placed on the nodes of one domain.
 *
 * 1. Pods that have nodes already decide the domain of those that come later.
 */
import { goQuote } from "#api";
import { definePlugin, type PluginFactory } from "../framework/index.ts";

const NAME = "TopologyPlacement";

export const topologyPlacement: PluginFactory = {
  name: NAME,
  gate: "TopologyAwareWorkloadScheduling",
  make: () =>
    definePlugin({
      name: NAME,
      wakes: [{ resource: "Node", actions: ["add", "labels"] }],
      placements({ object }, view, on) {
        const key = object?.spec.schedulingConstraints?.topology?.[0]?.key;
        if (key === undefined) return undefined;
        const taken = new Set(on.map((name) => view.nodeNamed(name)?.labels[key]));
        const [own, another] = taken;
        if (taken.size > 1) return `more than 1 domain found for pod group: ${own}, ${another}`;
        if (taken.size === 1 && own === undefined) return `no topology domain found for pod group, key ${goQuote(key)}`;
        const domains = new Map<string, Set<string>>();
        for (const node of view.nodes) {
          const domain = node?.labels[key];
          if (node === undefined || domain === undefined || (own ?? domain) !== domain) continue;
          const names = domains.get(domain);
          if (names === undefined) domains.set(domain, new Set([node.name]));
          else names.add(node.name);
        }
        return [...domains].map(([domain, names]) => ({
          names,
          reason: `node(s) outside the topology domain ${key}=${domain}`,
        }));
      },
    }),
};
