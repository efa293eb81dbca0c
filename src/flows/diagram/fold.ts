/**
 * Folds similar records of a flow into one with a count, at the place of the first: three Pods of a ReplicaSet, each
 * created, scheduled and started; the rounds of a rolling update; repeated status reports.
 *
 * 1. Two requests, or two works, are alike if they differ only in generated names and have the same origin.
 * 2. A report that led only to other reports is not alike to one that caused an action, so that turning points are not
 *    hidden. Such reports are alike only if the reports to their sender are: a waiting Pod is not a running Pod.
 */
import { isKubelet } from "../record/actors.ts";
import type { FlowRecord, RequestRecord, WorkRecord } from "../record/record.ts";
import { causesOf, directCauses } from "../trace/trace.ts";

export interface Folded<T extends FlowRecord = FlowRecord> {
  /** The first of them. */
  readonly record: T;
  readonly all: readonly T[];
}

/** How far back reports are compared: the sender, its cause, the cause's sender, and its cause. */
const LEVELS = 4;

export interface FoldOptions {
  /** Records of different nodes are not alike. */
  readonly nodesApart?: boolean;
}

/** Records are in order of time; groups are in the order of their first records. */
export function foldAlike(records: readonly FlowRecord[], { nodesApart = false }: FoldOptions = {}): Folded[] {
  const links = linksOf(records);
  const beginnings = beginningsOf(records, links);
  const news = newsOf(records);
  const acting = actingRecords(records, links, news);
  const actorOf = ({ actor }: RequestRecord | WorkRecord) => (nodesApart || !isKubelet(actor) ? actor : "kubelet");
  const nameOf = (record: FlowRecord | undefined, levels: number): string => {
    if (record === undefined) return "";
    const shape = shapeOfRecord(record, links);
    if (record.type === "delivery") return shape;
    const own = `${actorOf(record)} ${shape} ${acting.has(record)}`;
    if (acting.has(record) || levels === 0) return own;
    const cause =
      record.type === "request"
        ? links.works.get(record.cause ?? "")
        : links.written.get(news.get(record)?.at(-1) ?? 0);
    return `${own} < ${nameOf(cause, levels - 1)}`;
  };
  const groups = new Map<string, FlowRecord[]>();
  for (const record of records) {
    const name = `${nameOf(record, LEVELS)} ${beginnings.get(record)}`;
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [record]);
    else members.push(record);
  }
  return [...groups.values()].flatMap((all) => (all[0] === undefined ? [] : [{ record: all[0], all }]));
}

export function eachAlone(records: readonly FlowRecord[]): Folded[] {
  return records.map((record) => ({ record, all: [record] }));
}

/**
 * For each work, the revisions that were new to it: not those that woke an earlier work on the same subject or that it
 * wrote itself.
 */
export function newsOf(records: readonly FlowRecord[]): ReadonlyMap<WorkRecord, readonly number[]> {
  const { written, works } = linksOf(records);
  const seen = new Set<string>();
  const news = new Map<WorkRecord, readonly number[]>();
  for (const work of records) {
    if (work.type !== "work") continue;
    const causes = causesOf(work);
    const keys = causes.map((revision) => `${work.actor} ${work.about} ${revision}`);
    const isOwn = (request: RequestRecord | undefined) =>
      request?.actor === work.actor &&
      (works.get(request.cause ?? "")?.about === work.about || `${request.namespace}/${request.name}` === work.about);
    const fresh = causes.filter((revision, at) => !seen.has(keys[at] ?? "") && !isOwn(written.get(revision)));
    for (const key of keys) seen.add(key);
    news.set(work, fresh);
  }
  return news;
}

interface Links {
  readonly written: ReadonlyMap<number, RequestRecord>;
  readonly works: ReadonlyMap<string, WorkRecord>;
}

function linksOf(records: readonly FlowRecord[]): Links {
  const written = new Map<number, RequestRecord>();
  const works = new Map<string, WorkRecord>();
  for (const record of records) {
    if (record.type === "work") works.set(record.id, record);
    else if (record.type === "request" && record.written !== undefined) written.set(record.written.revision, record);
  }
  return { written, works };
}

/** The latest record without a known cause that each goes back to, by its number. */
function beginningsOf(records: readonly FlowRecord[], { written, works }: Links): ReadonlyMap<FlowRecord, number> {
  const links = { works, requestOf: written };
  const beginnings = new Map<FlowRecord, number>();
  untilSettled(records, (record) => {
    const known = directCauses(record, links).flatMap((cause) =>
      cause === undefined ? [] : [beginnings.get(cause) ?? 0],
    );
    const beginning = known.length === 0 ? record.seq : Math.max(...known);
    if (beginnings.get(record) === beginning) return false;
    beginnings.set(record, beginning);
    return true;
  });
  return beginnings;
}

/** All records but reports that led only to reports, and the works that only sent these. */
function actingRecords(
  records: readonly FlowRecord[],
  { written, works }: Links,
  news: ReturnType<typeof newsOf>,
): ReadonlySet<FlowRecord> {
  const acting = new Set<FlowRecord>();
  // From the end: consequences mostly come later.
  untilSettled([...records].reverse(), (record) => {
    const isReport = record.type === "request" && record.subresource === "status" && record.status < 400;
    const acts = record.type === "request" ? !isReport : record.type === "work" && record.calls.length > 0;
    if (!acts && !acting.has(record)) return false;
    const before = acting.size;
    acting.add(record);
    if (record.type === "work") {
      for (const revision of news.get(record) ?? []) addKnown(acting, written.get(revision));
    } else if (record.type === "request") addKnown(acting, works.get(record.cause ?? ""));
    return acting.size > before;
  });
  return acting;
}

function addKnown(records: Set<FlowRecord>, record: FlowRecord | undefined): void {
  if (record !== undefined) records.add(record);
}

/** Repeats until nothing changes: the order of time is not always the order of causes. */
function untilSettled(records: readonly FlowRecord[], look: (record: FlowRecord) => boolean): void {
  for (let isSettled = false; !isSettled; ) {
    isSettled = true;
    for (const record of records) if (look(record)) isSettled = false;
  }
}

function shapeOfRecord(record: FlowRecord, { works }: Links): string {
  switch (record.type) {
    case "request": {
      const { verb, resource, subresource, namespace, name, status, reason, cause } = record;
      const decided = shapeOf(works.get(cause ?? "")?.decided ?? "");
      return ["request", verb, resource, subresource, namespace, shapeOf(name), status, reason, decided].join(" ");
    }
    case "work": {
      const { about, decided, calls } = record;
      const made = calls.map(({ to, what, failed }) => `${to} ${shapeOf(what)} ${failed}`);
      return ["work", shapeOf(about), shapeOf(decided), ...made].join(" ");
    }
    case "delivery": {
      const { change, resource, namespace, name, to } = record;
      return ["delivery", change, resource, namespace, shapeOf(name), ...to].join(" ");
    }
  }
}

/** Replaces generated name suffixes, uids and numbers, which differ between similar things. */
export function shapeOf(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "…")
    .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-…")
    .replaceAll(/\d+/g, "0");
}
