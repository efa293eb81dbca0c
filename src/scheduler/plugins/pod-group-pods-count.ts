/** PodGroupPodsCount: the more Pods of a group a placement has room for, the better. */
import { definePlugin, MAX_SCORE, type PluginFactory } from "../framework/index.ts";

const NAME = "PodGroupPodsCount";

export const podGroupPodsCount: PluginFactory = {
  name: NAME,
  gate: "TopologyAwareWorkloadScheduling",
  make: () =>
    definePlugin({
      name: NAME,
      scorePlacement: ({ pods }) => pods.length,
      normalizePlacements(scores) {
        const most = Math.max(1, ...scores);
        return scores.map((score) => Math.trunc((score * MAX_SCORE) / most));
      },
    }),
};
