/**
 * The contracts of the scheduler: plugins, extenders, configurations, and how plugins see pods, nodes and the cluster.
 */
export * from "./cluster-event.ts";
export * from "./cluster-view.ts";
export * from "./extender.ts";
export * from "./group.ts";
export { type GroupWriter, publishCondition } from "./group-status.ts";
export * from "./node-info.ts";
export * from "./plugin.ts";
export * from "./plugin-arguments.ts";
export * from "./pod-info.ts";
export { patchStatus, type StatusChange } from "./pod-status.ts";
export * from "./profile.ts";
export { type FilterUse, makeStages, type Stages } from "./stages.ts";
export * from "./verdict.ts";
