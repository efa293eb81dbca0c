/** The whole public surface of API priority and fairness. */
export { type Fairness, type FairnessOptions, fairness } from "./fairness.ts";
export { ensureFairnessObjects } from "./kept-objects.ts";
export { type InFlightLimits, maxInFlight } from "./max-in-flight.ts";
