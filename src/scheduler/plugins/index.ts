/** The in-tree plugins. */
import type { PluginFactory } from "../framework/index.ts";
import { balancedAllocation } from "./balanced-allocation.ts";
import { defaultBinder } from "./default-binder.ts";
import { defaultPreemption } from "./default-preemption/index.ts";
import { dynamicResources } from "./dynamic-resources/index.ts";
import { gangScheduling } from "./gang-scheduling.ts";
import { imageLocality } from "./image-locality.ts";
import { interPodAffinity } from "./inter-pod-affinity/index.ts";
import { nodeAffinity } from "./node-affinity.ts";
import { nodeDeclaredFeatures } from "./node-declared-features.ts";
import { nodeName } from "./node-name.ts";
import { nodePorts } from "./node-ports.ts";
import { nodeResourcesFit } from "./node-resources-fit.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";
import { nodeVolumeLimits } from "./node-volume-limits/index.ts";
import { podGroupPodsCount } from "./pod-group-pods-count.ts";
import { podTopologySpread } from "./pod-topology-spread/index.ts";
import { prioritySort } from "./priority-sort.ts";
import { schedulingGates } from "./scheduling-gates.ts";
import { taintToleration } from "./taint-toleration.ts";
import { topologyPlacement } from "./topology-placement.ts";
import { volumeBinding } from "./volume-binding/index.ts";
import { volumeRestrictions } from "./volume-restrictions.ts";
import { volumeZone } from "./volume-zone.ts";

export const ALL_PLUGINS: readonly PluginFactory[] = [
  schedulingGates,
  prioritySort,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  // Before preemption: it is better to free an idle claim than to evict a Pod.
  dynamicResources,
  gangScheduling,
  topologyPlacement,
  podGroupPodsCount,
  defaultPreemption,
  balancedAllocation,
  imageLocality,
  defaultBinder,
  nodeDeclaredFeatures,
];
