/** The whole public surface of flow control. */
export { type FlowControl, type FlowControlOptions, flowControl } from "./flow-control.ts";
export { ensureFlowControl } from "./kept-objects.ts";
export { type InFlightLimits, maxInFlight } from "./max-in-flight.ts";
