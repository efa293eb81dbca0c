/**
 * What happened several times in the same way for the same cause is shown once, with a count: three Pods of a ReplicaSet, each created, scheduled
 * and started.
 *
 * Two requests are alike if they differ only in names that were made up and were sent by works that are alike; two works are alike if what woke
 * them is alike. So whole branches of a flow fold, and none that took another turn.
 */
import type { FlowRecord, RequestRecord, WorkRecord } from "./record.ts";

export interface Folded<T extends FlowRecord = FlowRecord> {
  /** The first of them. */
  readonly record: T;
  readonly all: readonly T[];
}

/** Records come in the order of their causes, and go out in the order of each group's first. */
export function foldAlike(records: readonly FlowRecord[]): Folded[] {
  const groups = new Map<string, FlowRecord[]>();
  const groupOfRevision = new Map<number, string>();
  const groupOfWork = new Map<string, string>();
  for (const record of records) {
    const group = groupName(record, groupOfRevision, groupOfWork);
    if (record.type === "request" && record.written !== undefined) groupOfRevision.set(record.written.revision, group);
    if (record.type === "work") groupOfWork.set(record.id, group);
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [record]);
    else members.push(record);
  }
  return [...groups.values()].flatMap((all) => (all[0] === undefined ? [] : [{ record: all[0], all }]));
}

export function eachAlone(records: readonly FlowRecord[]): Folded[] {
  return records.map((record) => ({ record, all: [record] }));
}

function groupName(
  record: FlowRecord,
  groupOfRevision: ReadonlyMap<number, string>,
  groupOfWork: ReadonlyMap<string, string>,
): string {
  switch (record.type) {
    case "request":
      return requestShape(record, groupOfWork.get(record.cause ?? "") ?? `${record.cause ?? record.seq}`);
    case "work":
      return workShape(record, groupOfRevision);
    case "delivery":
      return `delivery ${groupOfRevision.get(record.revision) ?? record.seq} ${record.to}`;
  }
}

function requestShape(request: RequestRecord, cause: string): string {
  const { actor, verb, resource, subresource, namespace, name, status, reason } = request;
  return hash(
    ["request", cause, actor, verb, resource, subresource, namespace, shapeOf(name), status, reason].join(" "),
  );
}

function workShape({ actor, about, woken, decided, calls }: WorkRecord, groupOf: ReadonlyMap<number, string>): string {
  const causes = [...new Set(woken.map((revision) => groupOf.get(revision) ?? `@${revision}`))].sort();
  const made = calls.map(({ to, what, failed }) => `${to} ${shapeOf(what)} ${failed}`);
  return hash(["work", actor, shapeOf(about), shapeOf(decided), ...made, ...causes].join(" "));
}

/** Made-up endings of names, and numbers, differ between things that are alike. */
export function shapeOf(text: string): string {
  return text.replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-…").replaceAll(/\d+/g, "0");
}

/** Names of groups contain those of their causes: kept short, however long the chain. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x1000193;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 13);
  }
  return `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}.${text.length}`;
}
