/** The contracts of the scheduler: what plugins, extenders and configurations are. */
export * from "./cluster-event.ts";
export * from "./cluster-view.ts";
export { type Decision, decide, type NodeScores } from "./decide.ts";
export { Evaluator, type FilterOptions } from "./evaluator.ts";
export * from "./extender.ts";
export { type Filtered, rejectionOn } from "./filtered.ts";
export * from "./node-info.ts";
export * from "./plugin.ts";
export * from "./pod-info.ts";
export * from "./profile.ts";
export { FITS, UNSEEN } from "./rejection-codes.ts";
export { best, partsOf, type ScoreColumn, type Scored, totalOf } from "./scorer.ts";
export { makeStages, type Stages } from "./stages.ts";
export * from "./verdict.ts";
