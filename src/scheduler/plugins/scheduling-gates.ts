/** A pod with gates waits until the last of them is gone. */
import { definePlugin, PASS, type PluginFactory, rejectionsOf } from "../framework/index.ts";

const NAME = "SchedulingGates";
const rejections = rejectionsOf(NAME);

export const schedulingGates: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin({
      name: NAME,
      wakes: [{ resource: "TargetPod", actions: ["gatesEliminated"] }],
      preEnqueue({ pod }) {
        const gates = pod.spec?.schedulingGates ?? [];
        if (gates.length === 0) return PASS;
        return rejections.pending(`waiting for scheduling gates: [${gates.map(({ name }) => name).join(" ")}]`);
      },
    }),
};
