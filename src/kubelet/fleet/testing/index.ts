/** Simulated nodes for tests. */
export { nodeServer, type TestFleet, type TestFleetOptions, testFleet } from "./test-fleet.ts";
