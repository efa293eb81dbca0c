/**
 * The surface of flows in a browser: records, traces and diagrams, without Node's modules. Everywhere else `#flows` is
 * index.ts.
 */
export type { Arrow, Line } from "./diagram/causal-order.ts";
export { type Diagram, type DrawOptions, diagramOf } from "./diagram/diagram.ts";
export type { Call, DeliveryRecord, FlowRecord, ObjectName, RequestRecord, WorkRecord } from "./record/record.ts";
export { type Question, type Trace, trace } from "./trace/trace.ts";
