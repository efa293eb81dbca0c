/** SchedulingGates: a pod with gates waits until they are removed. */
import { definePlugin, PASS, type PluginFactory, rejectionsOf } from "../framework/index.ts";

const NAME = "SchedulingGates";

export const schedulingGates: PluginFactory = {
  name: NAME,
  make: () => {
    const rejections = rejectionsOf(NAME);
    return definePlugin({
      name: NAME,
      wakes: [{ resource: "TargetPod", actions: ["gatesEliminated"] }],
      preEnqueue({ pod }) {
        const gates = pod.spec?.schedulingGates ?? [];
        if (gates.length === 0) return PASS;
        return rejections.pending(`waiting for scheduling gates: [${gates.map(({ name }) => name).join(" ")}]`);
      },
    });
  },
};
