/**
 * From records to a sequence diagram: who took part, in order of first appearance, and what went between them.
 * Every line has the records that it was drawn from.
 */
import { eachAlone, type Folded, foldAlike } from "./fold.ts";
import type { DeliveryRecord, FlowRecord, RequestRecord, WorkRecord } from "./record.ts";

export type Arrow = "call" | "answer" | "watch" | "persisted" | "note";

export interface Line {
  readonly at: number;
  readonly arrow: Arrow;
  readonly from: string;
  /** As `from` for a note. */
  readonly to: string;
  readonly text: string;
  /** How often it happened in this way. */
  readonly times: number;
  readonly records: readonly FlowRecord[];
}

export interface Diagram {
  readonly participants: readonly string[];
  readonly lines: readonly Line[];
}

export interface DrawOptions {
  /** Only lines from, to or about these. */
  readonly only?: readonly string[];
  readonly fold?: boolean;
}

export const API_SERVER = "apiserver";
export const STORE = "store";

export function diagramOf(records: readonly FlowRecord[], { only, fold = true }: DrawOptions = {}): Diagram {
  const written = new Map<number, RequestRecord>();
  for (const record of records) {
    if (record.type === "request" && record.written !== undefined) written.set(record.written.revision, record);
  }
  const groups = fold ? foldAlike(records) : eachAlone(records);
  const all = groups.flatMap((group) => linesOf(group, written)).sort((a, b) => a.at - b.at);
  const lines = only === undefined ? all : all.filter(({ from, to }) => only.includes(from) || only.includes(to));
  return { participants: [...new Set(lines.flatMap(({ from, to }) => [from, to]))], lines };
}

function linesOf({ record, all }: Folded, written: ReadonlyMap<number, RequestRecord>): Line[] {
  const make: MakeLine = (at, arrow, from, to, text) => ({
    at,
    arrow,
    from,
    to,
    text,
    times: all.length,
    records: all,
  });
  switch (record.type) {
    case "request":
      return requestLines(record, all as readonly RequestRecord[], make);
    case "delivery":
      return deliveryLines(record, make);
    case "work":
      return workLines(record, written, make);
  }
}

type MakeLine = (at: number, arrow: Arrow, from: string, to: string, text: string) => Line;

const METHODS: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
  get: "GET",
  list: "LIST",
  watch: "WATCH",
};

function requestLines(record: RequestRecord, all: readonly RequestRecord[], make: MakeLine): Line[] {
  const { at, tookMs, actor, status, reason } = record;
  const end = at + tookMs;
  const answer = reason === undefined ? String(status) : `${status} ${reason}`;
  const revisions = all.flatMap(({ written }) => (written === undefined ? [] : [written.revision]));
  return [
    make(at, "call", actor, API_SERVER, `${METHODS[record.verb] ?? record.verb} ${pathOf(record)}`),
    make(at, "note", API_SERVER, API_SERVER, verdictsOf(record)),
    ...(revisions.length === 0
      ? []
      : [make(end, "persisted", API_SERVER, STORE, `${record.name} ${revisionsOf(revisions)}`)]),
    make(end, "answer", API_SERVER, actor, answer),
  ];
}

function pathOf({ verb, resource, subresource, name }: RequestRecord): string {
  const plural = resource.slice(resource.indexOf("/") + 1);
  const itself = verb === "create" && subresource === "" ? "" : name;
  return [plural, itself, subresource].filter(Boolean).join("/");
}

function revisionsOf(revisions: readonly number[]): string {
  const first = Math.min(...revisions);
  const last = Math.max(...revisions);
  return first === last ? `@${first}` : `@${first}…${last}`;
}

function verdictsOf({ user, authorization, admission = [], status }: RequestRecord): string {
  if (status === 401) return "not authenticated ✗";
  return [
    `${user} ✓`,
    ...(authorization === undefined ? [] : [`${authorization} ${status === 403 ? "✗" : "✓"}`]),
    ...(admission.length === 0 ? [] : [`admission: ${admission.join(", ")}`]),
  ].join(" ");
}

function deliveryLines({ at, to, change, name, revision }: DeliveryRecord, make: MakeLine): Line[] {
  return to.map((each) => make(at, "watch", API_SERVER, each, `${change} ${name} @${revision}`));
}

function workLines(record: WorkRecord, written: ReadonlyMap<number, RequestRecord>, make: MakeLine): Line[] {
  const { at, actor, woken, decided, calls, claimed } = record;
  const told = woken.flatMap((revision) => {
    const request = written.get(revision);
    if (request?.written === undefined) return [];
    const when = request.at + request.tookMs;
    return [make(when, "watch", API_SERVER, actor, `${request.written.change} ${request.name} @${revision}`)];
  });
  const said = claimed ? `says: ${decided}` : decided;
  return [
    ...told,
    ...(said === "" ? [] : [make(at, "note", actor, actor, said)]),
    ...calls.flatMap(({ to, what, afterMs, tookMs, failed }) => [
      make(at + afterMs, "call", actor, to, what),
      make(at + afterMs + tookMs, "answer", to, actor, failed ?? "ok"),
    ]),
  ];
}
