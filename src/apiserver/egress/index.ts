/** What other rooms use of egress. */
export { EgressConfigError, type EgressSelections, parseEgress } from "./configuration.ts";
export { type Egress, type EgressOptions, egress } from "./egress.ts";
export { dialMetrics } from "./metrics.ts";
