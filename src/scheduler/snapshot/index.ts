/** The cluster's state, kept from events. */
export { ClusterState } from "./cluster-state.ts";
export { givenTo, hostPortsOf } from "./pod-asks.ts";
export { isUngiven, PodInfos } from "./pod-infos.ts";
export { matcher, podSelector, spreadConstraint } from "./pod-terms.ts";
export { amountOf, ResourceNames } from "./resource-names.ts";
export { areInTheWay } from "./state-node.ts";
