/**
 * GangScheduling: the Pods of a gang wait until enough of them exist. cycle/ places them together.
 *
 * 1. The Pod that completes a gang opens the gate for the others: an event for each Pod would ask all that wait.
 */
import { goQuote } from "#api";
import {
  definePlugin,
  type Group,
  groupKeyOf,
  minCountOf,
  PASS,
  type PluginFactory,
  type PodGroup,
  rejectionsOf,
} from "../framework/index.ts";

const NAME = "GangScheduling";

export const gangScheduling: PluginFactory = {
  name: NAME,
  gate: "GangScheduling",
  make: (_, { groups, ungate }) => {
    const rejections = rejectionsOf(NAME);
    const tooFew = rejections.unresolvable("waiting for minCount pods from a gang to appear in scheduling queue");
    const openedFor = new WeakMap<Group, PodGroup>();
    groups?.onChange((group) => {
      const { object, pods } = group;
      if (object === undefined || pods.size < minCountOf(group)) return;
      // Pods beyond the count pass by themselves.
      if (pods.size > minCountOf(group) && openedFor.get(group) === object) return;
      openedFor.set(group, object);
      for (const uid of pods.keys()) ungate(uid);
    });
    return definePlugin({
      name: NAME,
      preEnqueue({ pod }) {
        const key = groups === undefined ? undefined : groupKeyOf(pod);
        if (key === undefined) return PASS;
        const group = groups?.named(key);
        if (group?.object === undefined) {
          const name = goQuote(pod.spec?.schedulingGroup?.podGroupName ?? "");
          return rejections.unresolvable(`waiting for pod's pod group ${name} to appear in scheduling queue`);
        }
        return group.pods.size < minCountOf(group) ? tooFew : PASS;
      },
    });
  },
};
