/** The whole public surface of aggregation. */
export { type Aggregation, type AggregationOptions, type AggregationReach, aggregation } from "./aggregation.ts";
export type { Identity as FrontProxyIdentity } from "./backend.ts";
export type { LocalExtension, LocalExtensions } from "./local-backend.ts";
