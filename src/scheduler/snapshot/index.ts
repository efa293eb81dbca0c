/** The cluster state, kept up to date by watch events. */
export { ClusterState } from "./cluster-state.ts";
export { allocationOf, hostPortsOf } from "./pod-asks.ts";
export { PodGroups } from "./pod-groups.ts";
export { hasNoAllocation, PodInfos } from "./pod-infos.ts";
export { matcher, podSelector, spreadConstraint } from "./pod-terms.ts";
export { amountOf, ResourceNames } from "./resource-names.ts";
export { portsConflict } from "./state-node.ts";
