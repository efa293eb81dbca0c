/** Controllers on an in-memory API server with virtual time: see `testControllers`. */

export { placePods, type ScriptedNodes, scriptedNodes } from "./nodes.ts";
export { type PodFacts, podWith, reportPods } from "./pods.ts";
export { type TestControllers, type TestControllersOptions, testControllers } from "./test-controllers.ts";
