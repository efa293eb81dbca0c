/** `k8ts/testing`: whole clusters in a test's process, on virtual time, with forks and faults. */
export { startCluster, TestCluster } from "./cluster/cluster.ts";
export { type Limits, NeverHappened } from "./cluster/eventually.ts";
export type { ClusterOptions, ImageScript } from "./cluster/options.ts";
export { TestClock } from "./cluster/test-clock.ts";
export { serveWebhook, type Webhook } from "./cluster/webhook.ts";
export { type FaultsBySeed, faultsBySeed } from "./faults/by-seed.ts";
export { type ComponentName, Faults, type KillOptions, type LateWatches, type Selected } from "./faults/faults.ts";
export { beComplete, beGone, beReady, type Condition, exist, haveCondition, satisfy } from "./matchers/conditions.ts";
export { type ClusterMatchers, eventually, matchers, ObjectOf } from "./matchers/matchers.ts";
export { type ServedCluster, type ServeOptions, serveCluster } from "./serve/serve.ts";
export {
  failureReport,
  type OperatorModule,
  type Outcome,
  operatorScenario,
  type Simulated,
  type SimulateOptions,
  scenarios,
  simulate,
} from "./simulate/index.ts";
export { insist, type Scenario, type Stage } from "./simulate/scenario.ts";
