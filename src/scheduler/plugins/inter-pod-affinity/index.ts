/** InterPodAffinity: pod affinity and anti-affinity. */
import type { core, KubeObject } from "#api";
import {
  type ClusterEvent,
  type ClusterView,
  definePlugin,
  type PluginFactory,
  type PodInfo,
} from "../../framework/index.ts";
import { PodInfos, ResourceNames } from "../../snapshot/index.ts";
import { type AffinityState, affinityFilter } from "./filter.ts";
import { affinityScore } from "./score.ts";
import type { Tally } from "./tally.ts";

const NAME = "InterPodAffinity";

export const interPodAffinity: PluginFactory = {
  name: NAME,
  make({ InterPodAffinity: args }, { view }) {
    // Hints need the old states of pods, which the cluster state no longer has.
    const infos = new PodInfos(new ResourceNames());
    const known = new WeakMap<KubeObject, PodInfo>();
    const infoOf = (pod: KubeObject | undefined): PodInfo | undefined => {
      if (pod === undefined) return undefined;
      const info = known.get(pod) ?? infos.of(pod as core.Pod);
      known.set(pod, info);
      return info;
    };
    const hint = (pod: PodInfo, event: ClusterEvent) => afterPodChange(view, pod, infoOf(event.old), infoOf(event.new));
    return definePlugin<AffinityState, readonly Tally[]>({
      name: NAME,
      wakes: [
        { resource: "AssignedPod", actions: ["add", "delete", "labels"], hint },
        { resource: "TargetPod", actions: ["labels"] },
        {
          resource: "Node",
          actions: ["add", "labels"],
          hint: ({ terms }, event) => {
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            const keys = [...terms.required, ...terms.requiredAnti].map(({ topologyKey }) => topologyKey);
            if (before === undefined || keys.length === 0) return "queue";
            const changes = keys.some((key) => before.metadata.labels?.[key] !== after?.metadata.labels?.[key]);
            return changes ? "queue" : "skip";
          },
        },
      ],
      filter: affinityFilter,
      score: affinityScore(args),
    });
  },
};

/** A new pod may satisfy affinity; a removed pod may end a conflict with anti-affinity. */
function afterPodChange(
  view: ClusterView,
  pod: PodInfo,
  before: PodInfo | undefined,
  after: PodInfo | undefined,
): "queue" | "skip" {
  const { required, requiredAnti } = pod.terms;
  const isWanted = (other: PodInfo | undefined) =>
    other !== undefined && required.length > 0 && required.some(({ select }) => view.matches(select, other));
  const isConflicting = (other: PodInfo | undefined) =>
    other !== undefined &&
    (requiredAnti.some(({ select }) => view.matches(select, other)) ||
      other.terms.requiredAnti.some(({ select }) => view.matches(select, pod)));
  if (isWanted(after) && !isWanted(before)) return "queue";
  if (isConflicting(before) && !isConflicting(after)) return "queue";
  // The last matching pod is gone: the pod may be the first of its group again.
  return isWanted(before) && !isWanted(after) && required.every(({ select }) => view.matches(select, pod))
    ? "queue"
    : "skip";
}
