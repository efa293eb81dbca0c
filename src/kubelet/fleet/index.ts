/** The whole public surface of fleet: nodes without containers. */
export { Fleet, type FleetOptions } from "./fleet.ts";
export { type FleetFacts, STOPPED } from "./node-report.ts";
export { type ContainerScript, type Defaults, PREFIX as SIMULATED_PREFIX } from "./script.ts";
export { type NodeSettings, type NodesSpec, nodesOf } from "./settings.ts";
export type { SimulatedUsage, UsageQuestion, UsageSource } from "./usage.ts";
export { parseUsageScript, scriptedUsage, type UsageRule, UsageScriptError } from "./usage-script.ts";
