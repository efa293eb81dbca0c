/** The conditions of a silent node. NetworkUnavailable is not the kubelet's, and is left as it is. */
import { type core, formatTime, instantOf } from "#api";

export type Node = core.Node;

const OF_KUBELETS = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

export function condition({ status }: Node, type: string): core.NodeCondition | undefined {
  return status?.conditions?.find((each) => each.type === type);
}

/** True, False or Unknown; undefined if there is no such condition. */
export function readiness(node: Node): string | undefined {
  return condition(node, "Ready")?.status;
}

/** Undefined if nothing changes. */
export function silentConditions(node: Node, now: number): readonly core.NodeCondition[] | undefined {
  const time = formatTime(instantOf(now));
  const conditions = [...(node.status?.conditions ?? [])];
  let changed = false;
  for (const type of OF_KUBELETS) {
    const at = conditions.findIndex((each) => each.type === type);
    const before = conditions[at];
    if (before?.status === "Unknown") continue;
    changed = true;
    if (before === undefined) conditions.push(neverUpdated(node, type, time));
    else conditions[at] = { ...before, ...stoppedPosting(time) };
  }
  return changed ? conditions : undefined;
}

function stoppedPosting(lastTransitionTime: string) {
  return {
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime,
  };
}

function neverUpdated({ metadata }: Node, type: string, lastTransitionTime: string): core.NodeCondition {
  const { creationTimestamp } = metadata;
  return {
    type,
    status: "Unknown",
    reason: "NodeStatusNeverUpdated",
    message: "Kubelet never posted node status.",
    ...(creationTimestamp !== undefined && { lastHeartbeatTime: creationTimestamp }),
    lastTransitionTime,
  };
}
