/**
 * All records that led to an object, and all that followed from it.
 *
 *     the object's writes ──► works that they woke ──► their writes ──► …                  down, `depth` works deep
 *     the object's writes ◄── works that sent them ◄── revisions that woke those ◄── …   up, to the start of the flow
 *
 * 1. Only recorded causes are followed. Causes that the recorder no longer has are counted in `missing`.
 * 2. A claimed work is not a cause: it stands before its own requests, and joins no other flow.
 * 3. A work is shown with everything that it caused, or not at all; one that caused nothing is left out.
 * 4. A work about the object that no change woke, but time, belongs to the object's flow: no write leads to it.
 * 5. An object is the last one of its name, from its creation on: earlier ones of the name are other objects.
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
  /** Only this request, and what followed from it. */
  readonly request?: RequestRecord | undefined;
  /** How many works deep. Default: all. */
  readonly depth?: number | undefined;
  readonly since?: number | undefined;
  /** Include requests that only read. */
  readonly reads?: boolean;
}

export interface Trace {
  /** In the order in which they happened. */
  readonly records: readonly FlowRecord[];
  /** How many named causes are no longer among the records. */
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
  if (question.request !== undefined) {
    goDown(question.request, links, found, depth);
  } else if (object === undefined) {
    for (const request of begin) {
      found.add(request);
      const work = links.works.get(request.cause ?? "");
      if (work !== undefined) found.add(work);
    }
    // A work without requests but with calls to others is part of the flow.
    for (const record of all)
      if (record.type === "work" && record.at >= since && record.calls.length > 0) found.add(record);
  } else {
    const bornAt = beginningOf(all, object);
    const isOwn = (request: RequestRecord) => sameObject(request, object) && request.at >= bornAt;
    const own = begin.filter(isOwn);
    const roots = Number.isFinite(depth) ? withoutEffects(own, links) : own;
    for (const request of roots) goUp(request, links, found);
    const beginnings = [...found].filter((record) => record.type === "request");
    for (const request of beginnings) if (isOwn(request)) goDown(request, links, found, depth);
    for (const work of links.works.values()) {
      if (depth <= 0 || work.at < Math.max(since, bornAt) || !isWokenByTime(work, object)) continue;
      const sent = links.sentBy.get(work.id) ?? [];
      if (sent.length > 0) found.add(work);
      for (const request of sent) goDown(request, links, found, depth - 1);
    }
  }
  const records = [...found, ...deliveriesOf(all, found)]
    .filter((record) => reads || record.type !== "request" || !isRead(record.verb))
    .sort(byTime(links));
  return { records: causesFirst(records, links), missing: missingCauses(found, links) };
}

/** When the object began, as far as it is known: by its uid. */
function beginningOf(all: readonly FlowRecord[], object: ObjectName): number {
  const writes = all.flatMap((record) =>
    record.type === "request" && record.subresource === "" && record.written !== undefined && sameObject(record, object)
      ? [{ uid: record.written.uid, began: record.at }]
      : [],
  );
  const uid = writes.at(-1)?.uid;
  const first = writes.find((write) => write.uid === uid);
  // Without an earlier object of its name, all that is known is about this one: also what was refused before.
  return first === undefined || first === writes[0] ? Number.NEGATIVE_INFINITY : first.began;
}

function linksOf(all: readonly FlowRecord[]): Links {
  const works = new Map<string, WorkRecord>();
  const requestOf = new Map<number, RequestRecord>();
  const sentBy = new Map<string, RequestRecord[]>();
  const wokenBy = new Map<number, WorkRecord[]>();
  for (const record of all) {
    if (record.type === "work") {
      // A claim comes before the vouched record that takes its place.
      works.set(record.id, record);
      for (const revision of causesOf(record)) add(wokenBy, revision, record);
    } else if (record.type === "request") {
      if (record.written !== undefined) requestOf.set(record.written.revision, record);
      if (record.cause !== undefined) add(sentBy, record.cause, record);
    }
  }
  return { works, requestOf, sentBy, wokenBy };
}

/** The revisions that led to a work, if known. */
export function causesOf({ claimed, woken }: WorkRecord): readonly number[] {
  return claimed ? [] : woken;
}

/** Whether it is about the object, and nothing else led to it than its time. */
export function isWokenByTime({ claimed, woken, resource, about }: WorkRecord, object: ObjectName): boolean {
  const key = object.namespace === "" ? object.name : `${object.namespace}/${object.name}`;
  return !claimed && woken.length === 0 && resource === object.resource && about === key;
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/**
 * Depth is counted from the beginning of the object's flow: a later write to the object, such as its status, does not
 * restart it.
 */
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

/** The other watchers of the flow's writes. */
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

/** Within a millisecond the order follows from causes, not from clocks. */
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

/** Its direct cause, if it is among the records. */
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

/** By time; a work with a foreign clock stands between its causes and its requests. */
function byTime({ requestOf, sentBy }: Links) {
  const timeOf = (record: FlowRecord): number => {
    if (record.type !== "work" || !record.foreignClock) return record.at;
    const after = Math.max(...causesOf(record).map((revision) => endOf(requestOf.get(revision))));
    const before = Math.min(...(sentBy.get(record.id) ?? []).map(({ at }) => at));
    return Math.min(Math.max(record.at, after), before);
  };
  return (a: FlowRecord, b: FlowRecord) => timeOf(a) - timeOf(b) || rank(a) - rank(b) || a.seq - b.seq;
}

/** At equal times: deliveries before works, works before requests. */
function rank({ type }: FlowRecord): number {
  return type === "delivery" ? 0 : type === "work" ? 1 : 2;
}

function endOf(request: RequestRecord | undefined): number {
  return request === undefined ? Number.NEGATIVE_INFINITY : request.at + request.tookMs;
}
