/** PodTopologySpread: spreads pods over topology domains. */
import { type core, everything } from "#api";
import {
  type ClusterEvent,
  definePlugin,
  type PluginFactory,
  type PodInfo,
  type SpreadConstraint,
} from "../../framework/index.ts";
import { podSelector, spreadConstraint } from "../../snapshot/index.ts";
import { defaultSelector } from "./default-selector.ts";
import { type SpreadState, spreadFilter } from "./filter.ts";
import { Inclusion } from "./inclusion.ts";
import { type SpreadScores, spreadScore } from "./score.ts";

const NAME = "PodTopologySpread";
const NO_CONSTRAINTS: readonly SpreadConstraint[] = [];

const SYSTEM_DEFAULTS: readonly core.TopologySpreadConstraint[] = [
  { topologyKey: "kubernetes.io/hostname", maxSkew: 3, whenUnsatisfiable: "ScheduleAnyway" },
  { topologyKey: "topology.kubernetes.io/zone", maxSkew: 5, whenUnsatisfiable: "ScheduleAnyway" },
];

export const podTopologySpread: PluginFactory = {
  name: NAME,
  make({ PodTopologySpread: { defaultingType, defaultConstraints } }, { informers }) {
    const isSystem = defaultingType === "System";
    const nobody = podSelector([], everything);
    const defaults = (isSystem ? SYSTEM_DEFAULTS : defaultConstraints).map((each) => spreadConstraint(each, nobody));
    const selectorOf = defaults.length === 0 ? () => undefined : defaultSelector(informers);
    const constraintsOf = (pod: PodInfo): readonly SpreadConstraint[] => {
      if (pod.spread.length > 0) return pod.spread;
      const select = selectorOf(pod);
      return select === undefined ? NO_CONSTRAINTS : defaults.map((each) => ({ ...each, select }));
    };
    const inclusion = new Inclusion();
    const needsAllKeys = ({ spread }: PodInfo) => spread.length > 0 || !isSystem;
    const hard = (pod: PodInfo) => constraintsOf(pod).filter((constraint) => constraint.hard);
    return definePlugin<SpreadState, SpreadScores>({
      name: NAME,
      wakes: [
        {
          resource: "AssignedPod",
          actions: ["add", "delete", "labels", "update"],
          hint: (pod, event) => (hard(pod).some((each) => isSelected(each, event)) ? "queue" : "skip"),
        },
        { resource: "TargetPod", actions: ["labels"] },
        {
          resource: "TargetPod",
          actions: ["tolerations"],
          hint: (pod) => (hard(pod).some(({ honorsTaints }) => honorsTaints) ? "queue" : "skip"),
        },
        {
          resource: "Node",
          actions: ["add", "delete", "labels", "taints"],
          hint: (pod, event) => {
            const constraints = hard(pod);
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            const has = (node: core.Node | undefined) =>
              constraints.every(({ topologyKey }) => node?.metadata.labels?.[topologyKey] !== undefined);
            return has(before) || has(after) ? "queue" : "skip";
          },
        },
      ],
      filter: spreadFilter(constraintsOf, inclusion),
      score: spreadScore({ constraintsOf, needsAllKeys, inclusion }),
    });
  },
};

/** Of unnamed updates only the deletionTimestamp matters: terminating pods are not counted. */
function isSelected({ select }: SpreadConstraint, { action, old, new: now }: ClusterEvent): boolean {
  if (action === "update" && old?.metadata.deletionTimestamp === now?.metadata.deletionTimestamp) return false;
  return [old, now].some(
    (each) =>
      each !== undefined &&
      select.namespaces.has(each.metadata.namespace ?? "") &&
      select.selector.matches(each.metadata.labels),
  );
}
