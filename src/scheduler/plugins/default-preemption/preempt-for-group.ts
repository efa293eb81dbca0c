/** DefaultPreemption for a group: evicts so that the whole of it fits, or nobody. */
import type { policy } from "#api";
import type { ClusterView, GroupNoFit, GroupPostFiltered, PodInfo } from "../../framework/index.ts";
import type { Evictions } from "./evictions.ts";
import { victimsFor } from "./group-victims.ts";
import type { Units } from "./units.ts";

export interface GroupPreemption {
  readonly view: ClusterView;
  readonly units: Units;
  readonly evictions: Evictions;
  readonly budgets: readonly policy.PodDisruptionBudget[];
  readonly nowMs: number;
  /** The gate WorkloadAwarePreemption: the group has a priority of its own. */
  readonly hasPriority: boolean;
}

export function preemptForGroup(failed: GroupNoFit, given: GroupPreemption): GroupPostFiltered {
  const { view, units, evictions, budgets, nowMs, hasPriority } = given;
  const { group, pods } = failed;
  const own = hasPriority ? group.object?.spec.priority : undefined;
  // Its least important Pod must be worth the eviction, too.
  const priority = own ?? (hasPriority ? 0 : Math.min(...pods.map((pod) => pod.priority)));
  const why = ineligibility(failed, given, priority);
  if (why !== undefined) return rejected(why, false);
  const places = new Map<string, { readonly pod: PodInfo; readonly node: string }>();
  for (const node of view.nodes)
    if (node !== undefined) for (const pod of node.pods.values()) places.set(pod.uid, { pod, node: node.name });
  const placed = [...places.values()].map(({ pod }) => pod).filter(({ uid }) => !group.pods.has(uid));
  const possible = units.of(placed).filter((unit) => unit.priority < priority);
  const nodeOf = ({ uid }: PodInfo) => places.get(uid)?.node ?? "";
  const found = victimsFor(failed, possible, budgets, nowMs, nodeOf);
  if (typeof found === "string") return rejected(found, true);
  const victims = found.victims.flatMap((unit) => unit.pods).map((pod) => ({ pod, node: nodeOf(pod) }));
  const nodes = [...new Set(found.nodes.values())];
  evictions.beginForGroup(group, pods, victims, { units: found.victims, nodes, priority });
  return { kind: "nominated", nodes: found.nodes };
}

function ineligibility({ pods }: GroupNoFit, { view, units }: GroupPreemption, priority: number): string | undefined {
  if (pods.some(({ pod }) => pod.spec?.preemptionPolicy === "Never"))
    return "not eligible due to preemptionPolicy=Never.";
  const nominated = new Set(pods.map(({ pod }) => pod.status?.nominatedNodeName ?? ""));
  for (const name of nominated) {
    for (const other of view.nodeNamed(name)?.pods.values() ?? []) {
      if (units.priorityOf(other) < priority && isLeaving(other))
        return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return undefined;
}

/** It was evicted for somebody, and is about to end. */
export function isLeaving({ pod, terminating }: PodInfo): boolean {
  const target = pod.status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return terminating && target?.status === "True" && target.reason === "PreemptionByScheduler";
}

function rejected(message: string, clears: boolean): GroupPostFiltered {
  return { kind: "rejected", message: `preemption: ${message}`, clears };
}
