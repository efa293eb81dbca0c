/** A cordoned node accepts only Pods that tolerate it. */
import { type PlainPlugin, unresolvable } from "./cluster.ts";
import { tolerated } from "./taints.ts";

export const nodeUnschedulable: PlainPlugin = {
  name: "NodeUnschedulable",
  filter({ pod }, node) {
    if (node.spec?.unschedulable !== true) return undefined;
    const taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;
    return tolerated(pod.spec?.tolerations ?? [], taint) ? undefined : unresolvable("node(s) were unschedulable");
  },
};
