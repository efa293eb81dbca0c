/** The rules of the scheduler in their plainest form, to compare the fast path with. */
export type { PlainCluster, PlainFailure, PlainPlugin, PlainQuestion } from "./cluster.ts";
export {
  DEFAULT_PROFILE,
  PLAIN_PLUGINS,
  type PlainDecision,
  type PlainProfile,
  type PlainScore,
  plainDecision,
} from "./decision.ts";
export { amountsIn, requestsOf } from "./pod-requests.ts";
