/** The whole public surface of flows. */

export type { Arrow, Line } from "./diagram/causal-order.ts";
export { type Diagram, type DrawOptions, diagramOf } from "./diagram/diagram.ts";
export { actorOf, vouchesFor } from "./record/actors.ts";
export { CAUSE_HEADER, type Cause, causeId, readCause, writeCause } from "./record/cause.ts";
export {
  type Call,
  type DeliveryRecord,
  type FlowRecord,
  isRead,
  type ObjectName,
  type RequestRecord,
  type SpanName,
  sameObject,
  type Unnumbered,
  type WorkRecord,
  type Written,
} from "./record/record.ts";
export { Recorder, type RecorderOptions } from "./record/recorder.ts";
export { type RequestAbout, RequestFacts } from "./record/request-facts.ts";
export { type WorkFacts, Works } from "./record/works.ts";
export { type AsciiOptions, ascii } from "./render/ascii.ts";
export { mermaid } from "./render/mermaid.ts";
export { otlp } from "./render/otlp.ts";
export { steps, wrapped } from "./render/steps.ts";
export { inTrace } from "./trace/in-trace.ts";
export { LiveTrace } from "./trace/live-trace.ts";
export { notesOf } from "./trace/notes.ts";
export { type Question, type Trace, trace } from "./trace/trace.ts";
