/**
 * From records to a sequence diagram: the participants, in order of first appearance, and the lines between them. Every
 * line has the records that it was drawn from.
 */
import { table } from "#base";
import { isKubelet, vouchesFor } from "../record/actors.ts";
import type { DeliveryRecord, FlowRecord, RequestRecord, WorkRecord } from "../record/record.ts";
import { causesOf } from "../trace/trace.ts";
import { type Arrow, causalOrder, inTurn, type Line, type Step } from "./causal-order.ts";
import { eachAlone, type Folded, type FoldOptions, foldAlike, newsOf, shapeOf } from "./fold.ts";

export interface Diagram {
  readonly participants: readonly string[];
  readonly lines: readonly Line[];
}

export interface DrawOptions extends FoldOptions {
  /** Only lines from, to or about these. */
  readonly only?: readonly string[] | undefined;
  readonly fold?: boolean;
  /** Also shows what works read. */
  readonly reads?: boolean;
  /** Also shows watchers that did nothing about a write. Default: only those that acted. */
  readonly deliveries?: boolean;
}

export const API_SERVER = "apiserver";
export const STORE = "store";

export function diagramOf(all: readonly FlowRecord[], options: DrawOptions = {}): Diagram {
  const { only, fold = true, reads = false, deliveries = false, nodesApart = only !== undefined } = options;
  const records = deliveries ? withoutWoken(all) : all.filter(({ type }) => type !== "delivery");
  const written = new Map<number, RequestRecord>();
  for (const record of records) {
    if (record.type === "request" && record.written !== undefined) written.set(record.written.revision, record);
  }
  const groups = fold ? foldAlike(records, { nodesApart }) : eachAlone(records);
  const delivered = new Set<string>();
  const news = fold ? newsOf(records) : undefined;
  const nodes = nodesTogether(groups);
  const drawn = causalOrder(groups.flatMap((group) => stepsOf(group, written, delivered, { news, reads, nodes })));
  const lines = only === undefined ? drawn : drawn.filter(({ from, to }) => only.includes(from) || only.includes(to));
  return { participants: [...new Set(lines.flatMap(({ from, to }) => [from, to]))], lines };
}

/** Drops deliveries to watchers whose work shows the delivery already. */
function withoutWoken(records: readonly FlowRecord[]): FlowRecord[] {
  const woken = new Set<string>();
  for (const record of records)
    if (record.type === "work") for (const revision of causesOf(record)) woken.add(`${revision} ${record.actor}`);
  return records.flatMap((record): FlowRecord[] => {
    if (record.type !== "delivery") return [record];
    const to = record.to.filter((each) => !woken.has(`${record.revision} ${each}`));
    return to.length === 0 ? [] : [{ ...record, to }];
  });
}

function stepsOf(
  { record, all }: Folded,
  written: ReadonlyMap<number, RequestRecord>,
  delivered: Set<string>,
  how: How,
): Step[] {
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
      return requestSteps(record, all as readonly RequestRecord[], how, make);
    case "delivery":
      return deliverySteps(record, make);
    case "work":
      return workSteps(record, all as readonly WorkRecord[], written, delivered, how, make);
  }
}

interface How {
  /** Set if similar records are folded. */
  readonly news: ReturnType<typeof newsOf> | undefined;
  readonly reads: boolean;
  /** The kubelets that share one column, the first of them first. */
  readonly nodes: readonly string[];
}

/** Kubelets share one column if similar records of several nodes are folded. */
function nodesTogether(groups: readonly Folded[]): readonly string[] {
  const isTogether = ({ all }: Folded) => new Set(all.flatMap((each) => ("actor" in each ? each.actor : []))).size > 1;
  if (!groups.some(isTogether)) return [];
  const actors = groups.flatMap(({ all }) => all.flatMap((each) => ("actor" in each ? each.actor : [])));
  return [...new Set(actors.filter(isKubelet))];
}

type MakeLine = (at: number, arrow: Arrow, from: string, to: string, text: string) => Line;

const METHODS: Readonly<Record<string, string>> = table({
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
  get: "GET",
  list: "LIST",
  watch: "WATCH",
});

function requestSteps(
  record: RequestRecord,
  all: readonly RequestRecord[],
  { news, nodes }: How,
  make: MakeLine,
): Step[] {
  const { at, tookMs, status, reason, written } = record;
  const { actor } = drawnAs(all, nodes);
  const answer = reason === undefined ? String(status) : `${status} ${reason}`;
  const revisions = all.flatMap((each) => (each.written === undefined ? [] : [each.written.revision]));
  const verdicts = verdictsOf(record);
  return inTurn(
    record.cause === undefined ? [] : [workKey(record.cause)],
    { line: make(at, "call", actor, API_SERVER, `${METHODS[record.verb] ?? record.verb} ${pathOf(record)}`) },
    ...(verdicts === "" ? [] : [{ line: make(at, "note", API_SERVER, API_SERVER, verdicts) }]),
    ...(record.calls ?? []).flatMap(({ to, what, afterMs, tookMs: ms, failed }) => [
      { line: make(at + afterMs, "call", API_SERVER, to, what) },
      { line: make(at + afterMs + ms, "answer", to, API_SERVER, failed ?? "answered") },
    ]),
    ...(written === undefined
      ? []
      : [
          {
            line: make(written.at, "persisted", API_SERVER, STORE, `${record.name} ${revisionsOf(revisions)}`),
            keys: revisions.map(revisionKey),
          },
        ]),
    ...(news !== undefined && isExpectedAnswer(record)
      ? []
      : [{ line: make(at + tookMs, "answer", API_SERVER, actor, answer) }]),
  );
}

/** The success of a component's write shows where it is persisted. */
function isExpectedAnswer({ cause, user, actor, status, written }: RequestRecord): boolean {
  return cause !== undefined && written !== undefined && status < 300 && vouchesFor(user, actor);
}

/** `kubelet/n1 +2` for it and those of two more nodes. Lines of a single node name it. */
function drawnAs(all: readonly (RequestRecord | WorkRecord)[], nodes: readonly string[]) {
  const [actor = "", ...others] = new Set(all.map((each) => each.actor));
  if (nodes.length < 2 || !isKubelet(actor)) return { actor, which: "" };
  const which = others.length === 0 ? ` (${actor.slice(actor.indexOf("/") + 1)})` : "";
  return { actor: `${nodes[0]} +${nodes.length - 1}`, which };
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

/** Only the unexpected is shown: components are authenticated and allowed as a rule. */
function verdictsOf(record: RequestRecord): string {
  const { user, actor, authorization, admission = [], refusedBy, status } = record;
  if (status === 401) return "not authenticated ✗";
  const isForbidden = status === 403 && refusedBy === undefined && admission.length === 0;
  const isExpected = status !== 403 && vouchesFor(user, actor);
  const who = isExpected ? [] : [`${user} ✓`];
  const may = isForbidden
    ? [`${authorization ?? "no role lets them"} ✗`]
    : isExpected || authorization === undefined
      ? []
      : [`${authorization} ✓`];
  const microseconds = Object.values(record.admissionMicroseconds ?? {}).reduce((sum, each) => sum + each, 0);
  const words = microseconds < 100 ? `${microseconds} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
  const took = record.admissionMicroseconds === undefined ? "" : ` ${words}`;
  const some = `${admission.length} admission plugin${admission.length === 1 ? "" : "s"}`;
  const admitted =
    refusedBy !== undefined ? [`${refusedBy} ✗`] : isExpected || admission.length === 0 ? [] : [`${some} ✓${took}`];
  return [...who, ...may, ...admitted].join(" ");
}

function deliverySteps({ at, to, change, name, revision }: DeliveryRecord, make: MakeLine): Step[] {
  return to.flatMap((each) =>
    inTurn([revisionKey(revision)], { line: make(at, "watch", API_SERVER, each, `${change} ${name} @${revision}`) }),
  );
}

function workSteps(
  record: WorkRecord,
  all: readonly WorkRecord[],
  written: ReadonlyMap<number, RequestRecord>,
  known: Set<string>,
  { news, reads, nodes }: How,
  make: MakeLine,
): Step[] {
  const { at, decided, calls, claimed, read = [] } = record;
  const { actor, which } = drawnAs(all, nodes);
  const woken = causesOf(record);
  const alike = new Map<string, RequestRecord[]>();
  for (const revision of news?.get(record) ?? woken) {
    const request = written.get(revision);
    // One change may have woken several works; each gets one delivery.
    if (request === undefined || known.has(`${revision} ${record.actor}`)) continue;
    known.add(`${revision} ${record.actor}`);
    const alikeAs = `${request.resource} ${request.written?.change} ${shapeOf(request.name)}`;
    const what = news === undefined ? String(revision) : alikeAs;
    alike.set(what, [...(alike.get(what) ?? []), request]);
  }
  const told: Step[] = [...alike.values()].flatMap((requests) => {
    const [{ name, written: write } = {}] = requests;
    if (write === undefined) return [];
    const revisions = requests.flatMap((each) => each.written?.revision ?? []);
    const line = make(write.at, "watch", API_SERVER, actor, `${write.change} ${name} ${revisionsOf(revisions)}`);
    const times = Math.max(all.length, requests.length);
    return [{ line: { ...line, times }, keys: [], after: revisions.map(revisionKey) }];
  });
  // The requests of the work follow from its last line.
  const keys = all.map((work) => workKey(work.id));
  const said = claimed ? `says: ${decided}`.trimEnd() : decided;
  const lines = [
    ...(reads && read.length > 0 ? [make(at, "note", actor, actor, `read ${read.join(", ")}`)] : []),
    ...(said === "" ? [] : [make(at, "note", actor, actor, `${said}${which}`)]),
    ...calls.flatMap(({ to, what, afterMs, tookMs, failed }) => [
      make(at + afterMs, "call", actor, to, what),
      make(at + afterMs + tookMs, "answer", to, actor, failed ?? "ok"),
    ]),
  ];
  if (lines.length === 0) return told.map((step) => ({ ...step, keys }));
  return [
    ...told,
    ...inTurn(
      [...told, ...woken.map(revisionKey)],
      ...lines.map((line, index) => ({ line, keys: index === lines.length - 1 ? keys : [] })),
    ),
  ];
}

function revisionKey(revision: number): string {
  return `revision ${revision}`;
}

function workKey(id: string): string {
  return `work ${id}`;
}
