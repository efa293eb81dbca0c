/** The records of one OpenTelemetry trace: its works and requests, and where their writes were delivered. */
import type { FlowRecord } from "../record/record.ts";

export function inTrace(all: readonly FlowRecord[], traceId: string): readonly FlowRecord[] {
  const revisions = new Set<number>();
  for (const record of all) {
    if (record.type !== "request" || record.span?.traceId !== traceId) continue;
    if (record.written !== undefined) revisions.add(record.written.revision);
  }
  return all.filter((record) =>
    record.type === "delivery" ? revisions.has(record.revision) : record.span?.traceId === traceId,
  );
}
