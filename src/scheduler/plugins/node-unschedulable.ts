/** NodeUnschedulable: a cordoned node accepts only pods that tolerate it. */
import type { core } from "#api";
import { definePlugin, PASS, type PluginFactory, ready, rejectionsOf } from "../framework/index.ts";
import { isTolerated } from "./taints.ts";

const NAME = "NodeUnschedulable";
const CORDONED = rejectionsOf(NAME).unresolvable("node(s) were unschedulable");
const TAINT: core.Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

export const nodeUnschedulable: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin<boolean>({
      name: NAME,
      wakes: [
        {
          resource: "Node",
          actions: ["add", "taints"],
          hint: (_, { new: node }) =>
            (node as core.Node | undefined)?.spec?.unschedulable === true ? "skip" : "queue",
        },
        { resource: "TargetPod", actions: ["tolerations"] },
      ],
      filter: {
        reads: "node",
        prepare: (ask) => ready(isTolerated(TAINT, ask.tolerations)),
        check: (tolerated, node) => (node.unschedulable && !tolerated ? CORDONED : PASS),
      },
    }),
};
