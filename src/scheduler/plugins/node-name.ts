/** NodeName: a pod with spec.nodeName fits only that node. */
import { definePlugin, PASS, type PluginFactory, ready, rejectionsOf, SKIP } from "../framework/index.ts";

const NAME = "NodeName";
const OTHER = rejectionsOf(NAME).unresolvable("node(s) didn't match the requested node name");

export const nodeName: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin<string>({
      name: NAME,
      wakes: [{ resource: "Node", actions: ["add"] }],
      filter: {
        reads: "node",
        prepare: (ask) => (ask.nodeName === "" ? SKIP : ready(ask.nodeName)),
        check: (name, node) => (node.name === name ? PASS : OTHER),
      },
    }),
};
