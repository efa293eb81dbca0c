/** The in-tree plugins, their extension points, and the default weights. */
import { table } from "#base";
import type { ExtensionPoint, PluginUse } from "../framework/index.ts";

export const PLUGIN_POINTS: ReadonlyMap<string, readonly ExtensionPoint[]> = new Map<string, readonly ExtensionPoint[]>(
  [
    ["SchedulingGates", ["preEnqueue"]],
    ["PrioritySort", ["queueSort"]],
    ["NodeUnschedulable", ["filter"]],
    ["NodeName", ["filter"]],
    ["TaintToleration", ["filter", "preScore", "score"]],
    ["NodeAffinity", ["preFilter", "filter", "preScore", "score"]],
    ["NodePorts", ["preFilter", "filter"]],
    ["NodeResourcesFit", ["preFilter", "filter", "preScore", "score", "placementScore"]],
    ["VolumeRestrictions", ["preFilter", "filter"]],
    ["NodeVolumeLimits", ["preFilter", "filter"]],
    ["VolumeBinding", ["preFilter", "filter", "reserve", "preBind", "preScore", "score"]],
    ["VolumeZone", ["preFilter", "filter"]],
    ["PodTopologySpread", ["preFilter", "filter", "preScore", "score"]],
    ["InterPodAffinity", ["preFilter", "filter", "preScore", "score"]],
    [
      "DynamicResources",
      ["preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind"],
    ],
    ["GangScheduling", ["preEnqueue"]],
    ["TopologyPlacement", ["placementGenerate"]],
    ["PodGroupPodsCount", ["placementScore"]],
    ["DefaultPreemption", ["preEnqueue", "postFilter"]],
    ["NodeResourcesBalancedAllocation", ["preScore", "score"]],
    ["ImageLocality", ["score"]],
    ["DefaultBinder", ["bind"]],
    ["NodeDeclaredFeatures", ["preFilter", "filter"]],
  ],
);

const WEIGHTS: Readonly<Record<string, number>> = table({
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
});

/** Enabled at all of their points, in this order. */
export const DEFAULT_PLUGINS: readonly PluginUse[] = [...PLUGIN_POINTS.keys()].map((name) => ({
  name,
  weight: WEIGHTS[name] ?? 1,
}));
