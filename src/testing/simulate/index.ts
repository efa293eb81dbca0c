/** Deterministic simulation. */
export type { Bug } from "./bugs/bug.ts";
export { bugs } from "./bugs/index.ts";
export { invariants } from "./invariants/index.ts";
export { type OperatorModule, operatorScenario, scenarioOfFile } from "./operator-file.ts";
export { failureReport, replayCommand } from "./report.ts";
export type { Outcome, RunOptions, Violation } from "./run.ts";
export { insist, type Scenario, type Stage } from "./scenario.ts";
export { scenarios } from "./scenarios/index.ts";
export type { Shrunk } from "./shrink.ts";
export { type Simulated, type SimulateOptions, simulate } from "./simulate.ts";
