/** The whole public surface of the simulated runtime. */
export type { Behaviour, Script, ScriptedContainer, ScriptedExec, ScriptedExit, ScriptedPull } from "./script.ts";
export { type SimulatedRuntime, type SimulatedRuntimeOptions, simulatedRuntime } from "./simulated-runtime.ts";
