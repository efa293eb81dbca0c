/** PrioritySort: higher priority first, then longest waiting first. */
import { definePlugin, type PluginFactory } from "../framework/index.ts";

const NAME = "PrioritySort";

export const prioritySort: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin({
      name: NAME,
      queueSort(a, b) {
        if (a.pod.priority !== b.pod.priority) return a.pod.priority > b.pod.priority;
        return a.addedMs === b.addedMs ? a.sequence < b.sequence : a.addedMs < b.addedMs;
      },
    }),
};
