/** Notes below a diagram: what is missing, and whose clock differs. */
import type { FlowRecord, RequestRecord } from "../record/record.ts";
import { causesOf, type Trace } from "./trace.ts";

/** Clock differences and latencies on one machine are smaller. */
const TOLERATED_MS = 50;

/** In whole sentences. `dropped`: how many records the recorder has dropped. */
export function notesOf({ records, missing }: Trace, dropped: number): string[] {
  return [...missingNotes(missing, dropped), ...clockNotes(records)];
}

function missingNotes(missing: number, dropped: number): string[] {
  if (missing === 0) return [];
  const what = missing === 1 ? "1 earlier cause is" : `${missing} earlier causes are`;
  const why =
    dropped > 0
      ? `the oldest ${dropped === 1 ? "record has" : `${dropped} records have`} made room for newer ones`
      : "from before the recorder's time, or through another API server";
  return [`The beginning is missing: ${what} no longer known (${why}).`];
}

/** An actor whose work begins before its cause was written, or after its own requests, has a different clock. */
function clockNotes(records: readonly FlowRecord[]): string[] {
  const requestOf = new Map<number, RequestRecord>();
  const sentBy = new Map<string, RequestRecord>();
  for (const record of records) {
    if (record.type !== "request") continue;
    if (record.written !== undefined) requestOf.set(record.written.revision, record);
    if (record.cause !== undefined && !sentBy.has(record.cause)) sentBy.set(record.cause, record);
  }
  const off = new Map<string, number>();
  for (const record of records) {
    if (record.type !== "work" || !record.foreignClock) continue;
    const after = Math.max(...causesOf(record).map((revision) => requestOf.get(revision)?.written?.at ?? -Infinity));
    const before = sentBy.get(record.id)?.at ?? Infinity;
    const ms = record.at < after ? record.at - after : Math.max(0, record.at - before);
    if (Math.abs(ms) > Math.max(TOLERATED_MS, Math.abs(off.get(record.actor) ?? 0))) off.set(record.actor, ms);
  }
  return [...off].map(
    ([actor, ms]) =>
      `The clock of ${actor} is ${ms < 0 ? "behind" : "ahead"} by ${timeOf(Math.abs(ms))} or more: its steps stand where their causes put them.`,
  );
}

function timeOf(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 100_000 ? 1 : 0)} s`;
}
