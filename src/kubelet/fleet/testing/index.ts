/** Simulated nodes for tests. */
export { type TestFleet, type TestFleetOptions, testFleet } from "./test-fleet.ts";
