/** The whole public surface of flows. */
export { actorOf, vouchesFor } from "./actors.ts";
export { CAUSE_HEADER, type Cause, causeId, readCause, writeCause } from "./cause.ts";
export { type Arrow, type Diagram, type DrawOptions, diagramOf, type Line } from "./diagram.ts";
export { LiveTrace } from "./live-trace.ts";
export { notesOf } from "./notes.ts";
export {
  type Call,
  type DeliveryRecord,
  type FlowRecord,
  isRead,
  type ObjectName,
  type RequestRecord,
  type Unnumbered,
  type WorkRecord,
  type Written,
} from "./record.ts";
export { Recorder, type RecorderOptions } from "./recorder.ts";
export { type AsciiOptions, ascii } from "./render/ascii.ts";
export { mermaid } from "./render/mermaid.ts";
export { otlp } from "./render/otlp.ts";
export { type RequestAbout, RequestFacts } from "./request-facts.ts";
export { type Question, type Trace, trace } from "./trace.ts";
export { type WorkFacts, Works } from "./works.ts";
