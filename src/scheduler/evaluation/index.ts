/** One pod on the present state of the cluster: verdicts and scores by node. */
export { type Decision, decide, type NodeScores } from "./decide.ts";
export { Evaluator, type FilterOptions } from "./evaluator.ts";
export { FITS, type Filtered, rejectionOn, UNSEEN } from "./filtered.ts";
export { best, partsOf, type ScoreColumn, type Scored, totalOf } from "./scorer.ts";
