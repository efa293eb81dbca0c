/**
 * Where the records of a namespace begin: earlier ones are about a former namespace of the same name, and of others.
 *
 * 1. A record with a revision is compared by it, one without by its time.
 * 2. The end of a former namespace is known from recent events. Without one, as after a restart with records in a file,
 *    records begin in the second in which the namespace was created.
 */
import type { FlowRecord } from "#flows";
import type { Past } from "../past/index.ts";
import type { FormerNamespaces } from "../rest/read/former-namespaces.ts";

const SECOND_MS = 1000;

export interface Beginning {
  /** Undefined: only the time is known. */
  readonly revision: number | undefined;
  readonly atMs: number;
}

/** Undefined: nothing is known about the namespace, or it does not exist now. */
export type BeginningOf = (namespace: string) => Beginning | undefined;

export function beginningOf(former: FormerNamespaces, { timeline }: Pick<Past, "timeline">): BeginningOf {
  return (namespace) => {
    const createdAtMs = former.createdAtMs(namespace);
    if (createdAtMs === undefined) return undefined;
    const revision = former.endOf(namespace);
    if (revision === undefined) return { revision, atMs: createdAtMs };
    const endedAtMs = timeline.of(revision)?.atMs ?? Number.POSITIVE_INFINITY;
    return { revision, atMs: Math.min(endedAtMs, createdAtMs + SECOND_MS) };
  };
}

export function isSince(record: FlowRecord, { revision, atMs }: Beginning): boolean {
  const own = revisionOf(record);
  return revision === undefined || own === undefined ? record.at >= atMs : own > revision;
}

function revisionOf(record: FlowRecord): number | undefined {
  if (record.type === "delivery") return record.revision;
  if (record.type === "request") return record.written?.revision;
  return record.woken.length === 0 ? undefined : Math.max(...record.woken);
}
