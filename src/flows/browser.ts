/** What a page needs of flows: records, traces and diagrams, without what is Node's. Everywhere else, `#flows` is index.ts. */
export { type Arrow, type Diagram, type DrawOptions, diagramOf, type Line } from "./diagram.ts";
export type { Call, DeliveryRecord, FlowRecord, ObjectName, RequestRecord, WorkRecord } from "./record.ts";
export { type Question, type Trace, trace } from "./trace.ts";
