/**
 * From a request back to its cause, as recorded: who sent it, during which reconcile, triggered by which change.
 *
 * Of several revisions that triggered a reconcile, the last one with a recorded cause is shown: the reconcile was about
 * it.
 */
import { table } from "#base";
import type { FlowRecord, RequestRecord, WorkRecord } from "#flows";
import type { Reason } from "./answer.ts";

const MAX_STEPS = 4;

export function chainOf(request: RequestRecord, records: readonly FlowRecord[]): Reason[] {
  const works = new Map<string, WorkRecord>();
  const requestOf = new Map<number, RequestRecord>();
  for (const record of records) {
    if (record.type === "work") works.set(record.id, record);
    else if (record.type === "request" && record.written !== undefined) requestOf.set(record.written.revision, record);
  }
  const reasons: Reason[] = [];
  const passed = new Set<RequestRecord>();
  for (let at: RequestRecord | undefined = request; at !== undefined && reasons.length < 2 * MAX_STEPS; ) {
    passed.add(at);
    const work = at.cause === undefined ? undefined : works.get(at.cause);
    if (work === undefined) break;
    if (work.decided !== "")
      reasons.push({
        text: `${work.actor} ${work.claimed ? "says" : "decided"}: ${work.decided}`,
        evidence: `work ${work.id}`,
      });
    const causes: RequestRecord[] = work.woken.flatMap((revision) => requestOf.get(revision) ?? []);
    const next: RequestRecord | undefined =
      causes.findLast((each) => !passed.has(each) && each.cause === undefined) ??
      causes.findLast((each) => !passed.has(each));
    if (next !== undefined)
      reasons.push({ text: `${whoOf(next)} ${deed(next)}`, evidence: `revision ${next.written?.revision}` });
    at = next;
  }
  return reasons;
}

/** `kubectl (alice)`. */
export function whoOf({ actor, user }: RequestRecord): string {
  const isItself = actor === user || user === "" || user.endsWith(`:${actor}`) || actor.startsWith("kubelet/");
  return isItself || actor === "scheduler" ? actor : `${actor} (${user})`;
}

const DEEDS: Readonly<Record<string, string>> = table({
  create: "created",
  update: "changed",
  patch: "changed",
  delete: "deleted",
  deletecollection: "deleted",
});

function deed({ verb, resource, subresource, name }: RequestRecord): string {
  const what = `${resource.slice(resource.indexOf("/") + 1)}/${name}`;
  if (subresource === "eviction") return `evicted ${what}`;
  if (subresource === "binding") return `bound ${what}`;
  return `${DEEDS[verb] ?? verb} ${what}${subresource === "" ? "" : `'s ${subresource}`}`;
}
