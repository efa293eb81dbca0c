/**
 * All records that led to an object, and all that followed from it.
 *
 *     the object's own writes ──► works that they woke ──► what those wrote ──► …            down, `depth` works deep
 *     the object's own writes ◄── works that sent them ◄── revisions that woke those ◄── …   up, to where the flow began
 *
 * 1. Only recorded causes are followed. What a cause names and the recorder no longer has is counted in `missing`, not guessed.
 * 2. What somebody says of a work that is not theirs is no cause: such a work stands before its own requests, and joins no other flow.
 * 3. A work is shown with everything that it caused, or not at all; one that caused nothing is left out.
 */
import {
  type DeliveryRecord,
  type FlowRecord,
  isRead,
  type ObjectName,
  type RequestRecord,
  sameObject,
  type WorkRecord,
} from "../record/record.ts";

export interface Question {
  /** Undefined: everything. */
  readonly object?: ObjectName | undefined;
  /** How many works deep. Default: all. */
  readonly depth?: number | undefined;
  readonly since?: number | undefined;
  /** Requests that only read are left out unless asked for. */
  readonly reads?: boolean;
}

export interface Trace {
  /** In the order in which they happened. */
  readonly records: readonly FlowRecord[];
  /** Causes that are named, and are not among the records any more. */
  readonly missing: number;
}

interface Links {
  readonly works: ReadonlyMap<string, WorkRecord>;
  readonly requestOf: ReadonlyMap<number, RequestRecord>;
  readonly sentBy: ReadonlyMap<string, readonly RequestRecord[]>;
  readonly wokenBy: ReadonlyMap<number, readonly WorkRecord[]>;
}

export function trace(all: readonly FlowRecord[], question: Question): Trace {
  const { object, depth = Number.POSITIVE_INFINITY, since = Number.NEGATIVE_INFINITY, reads = false } = question;
  const links = linksOf(all);
  const found = new Set<FlowRecord>();
  const begin = all.filter((record): record is RequestRecord => record.type === "request" && record.at >= since);
  if (object === undefined) {
    for (const request of begin) {
      found.add(request);
      const work = links.works.get(request.cause ?? "");
      if (work !== undefined) found.add(work);
    }
    // What sent no request and called somebody else happened all the same.
    for (const record of all)
      if (record.type === "work" && record.at >= since && record.calls.length > 0) found.add(record);
  } else {
    const own = begin.filter((request) => sameObject(request, object));
    const roots = Number.isFinite(depth) ? withoutEffects(own, links) : own;
    for (const request of roots) goUp(request, links, found);
    const beginnings = [...found].filter((record) => record.type === "request");
    for (const request of beginnings) if (sameObject(request, object)) goDown(request, links, found, depth);
  }
  const records = [...found, ...deliveriesOf(all, found)]
    .filter((record) => reads || record.type !== "request" || !isRead(record.verb))
    .sort(byTime(links));
  return { records: causesFirst(records, links), missing: missingCauses(found, links) };
}

function linksOf(all: readonly FlowRecord[]): Links {
  const works = new Map<string, WorkRecord>();
  const requestOf = new Map<number, RequestRecord>();
  const sentBy = new Map<string, RequestRecord[]>();
  const wokenBy = new Map<number, WorkRecord[]>();
  for (const record of all) {
    if (record.type === "work") {
      works.set(record.id, record);
      for (const revision of causesOf(record)) add(wokenBy, revision, record);
    } else if (record.type === "request") {
      if (record.written !== undefined) requestOf.set(record.written.revision, record);
      if (record.cause !== undefined) add(sentBy, record.cause, record);
    }
  }
  return { works, requestOf, sentBy, wokenBy };
}

/** Revisions that led to a work, as far as that is known. */
export function causesOf({ claimed, woken }: WorkRecord): readonly number[] {
  return claimed ? [] : woken;
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/** Depth is counted from where the object's flow begins: what came back to it later, such as its status, is no new beginning. */
function withoutEffects(own: readonly RequestRecord[], links: Links): RequestRecord[] {
  const reached = new Set<FlowRecord>();
  return own.filter((request) => {
    if (reached.has(request)) return false;
    goDown(request, links, reached, Number.POSITIVE_INFINITY);
    return true;
  });
}

function goUp(from: RequestRecord, { works, requestOf }: Links, found: Set<FlowRecord>): void {
  const waiting = [from];
  for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
    if (found.has(request)) continue;
    found.add(request);
    const work = works.get(request.cause ?? "");
    if (work === undefined) continue;
    found.add(work);
    for (const revision of causesOf(work)) {
      const earlier = requestOf.get(revision);
      if (earlier !== undefined) waiting.push(earlier);
    }
  }
}

function goDown(from: RequestRecord, { sentBy, wokenBy }: Links, found: Set<FlowRecord>, depth: number): void {
  const waiting = [{ request: from, left: depth }];
  const passed = new Set<RequestRecord>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { request, left } = next;
    if (passed.has(request)) continue;
    passed.add(request);
    found.add(request);
    if (left <= 0 || request.written === undefined) continue;
    for (const work of wokenBy.get(request.written.revision) ?? []) {
      const sent = sentBy.get(work.id) ?? [];
      if (sent.length === 0 && work.calls.length === 0) continue;
      found.add(work);
      for (const each of sent) waiting.push({ request: each, left: left - 1 });
    }
  }
}

/** Who else was told of what the flow wrote. */
function deliveriesOf(all: readonly FlowRecord[], found: ReadonlySet<FlowRecord>): DeliveryRecord[] {
  const revisions = new Set<number>();
  for (const record of found) {
    if (record.type === "request" && record.written !== undefined) revisions.add(record.written.revision);
  }
  return all.filter((record): record is DeliveryRecord => record.type === "delivery" && revisions.has(record.revision));
}

function missingCauses(found: ReadonlySet<FlowRecord>, { works, requestOf }: Links): number {
  let missing = 0;
  for (const record of found) {
    if (record.type === "request" && record.cause !== undefined && !works.has(record.cause)) missing += 1;
    if (record.type === "work") missing += causesOf(record).filter((revision) => !requestOf.has(revision)).length;
  }
  return missing;
}

/** Within a millisecond clocks do not tell what came first, but causes do. */
function causesFirst(records: readonly FlowRecord[], links: Links): FlowRecord[] {
  const left = new Set(records);
  const ordered: FlowRecord[] = [];
  const take = (record: FlowRecord | undefined) => {
    if (record === undefined || !left.delete(record)) return;
    for (const cause of directCauses(record, links)) take(cause);
    ordered.push(record);
  };
  for (const record of records) take(record);
  return ordered;
}

/** What led to it at once, as far as it is among the records. */
export function directCauses(
  record: FlowRecord,
  { works, requestOf }: Pick<Links, "works" | "requestOf">,
): readonly (FlowRecord | undefined)[] {
  switch (record.type) {
    case "delivery":
      return [requestOf.get(record.revision)];
    case "work":
      return causesOf(record).map((revision) => requestOf.get(revision));
    default:
      return [works.get(record.cause ?? "")];
  }
}

/** By time; a work whose clock is another's stands between what woke it and what it sent. */
function byTime({ requestOf, sentBy }: Links) {
  const timeOf = (record: FlowRecord): number => {
    if (record.type !== "work" || !record.foreignClock) return record.at;
    const after = Math.max(...causesOf(record).map((revision) => endOf(requestOf.get(revision))));
    const before = Math.min(...(sentBy.get(record.id) ?? []).map(({ at }) => at));
    return Math.min(Math.max(record.at, after), before);
  };
  return (a: FlowRecord, b: FlowRecord) => timeOf(a) - timeOf(b) || rank(a) - rank(b) || a.seq - b.seq;
}

/** At one time: what was told comes before what was done about it. */
function rank({ type }: FlowRecord): number {
  return type === "delivery" ? 0 : type === "work" ? 1 : 2;
}

function endOf(request: RequestRecord | undefined): number {
  return request === undefined ? Number.NEGATIVE_INFINITY : request.at + request.tookMs;
}
