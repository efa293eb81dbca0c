/** `k8ts flow`: a sequence diagram of what happened to an object and what followed, drawn from flow records. */
import { createInterface } from "node:readline";
import { Command, Option } from "commander";
import { builtIn } from "#api";
import { realClock } from "#base";
import { ClusterError, type DataDir } from "#cluster";
import {
  ascii,
  type Diagram,
  diagramOf,
  type FlowRecord,
  inTrace,
  mermaid,
  notesOf,
  type ObjectName,
  otlp,
  type Question,
  type RequestRecord,
  steps,
  trace,
  wrapped,
} from "#flows";
import { milliseconds, wholeNumber } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { askServer, bodyText } from "./ask-server.ts";
import { showPaged } from "./pager.ts";

interface FlowOptions extends DataDirOption {
  readonly namespace: string;
  readonly last?: boolean;
  readonly follow?: boolean;
  readonly since?: number;
  readonly depth?: number;
  readonly only?: readonly string[];
  readonly reads?: boolean;
  readonly deliveries?: boolean;
  readonly fold: boolean;
  readonly wide?: boolean;
  readonly format: "ascii" | "mermaid" | "json" | "otlp";
}

export function flowCommand(): Command {
  return new Command("flow")
    .description("draw a sequence diagram of what happened: to an object, after the last request, or live")
    .argument("[object]", "such as deployment/web, pod/web-1, widgets.example.com/w; or the id of a trace")
    .addOption(dataDirOption())
    .option("-n, --namespace <name>", "namespace of the object", "default")
    .option("--last", "the last request from outside the cluster, and its effects")
    .option("-f, --follow", "keep showing new records")
    .addOption(new Option("--since <duration>", "only records of this last period, such as 5m").argParser(milliseconds))
    .addOption(
      new Option("--depth <n>", "maximum number of steps from cause to effect").argParser(wholeNumber(0, 1000)),
    )
    .addOption(
      new Option("--only <names>", "only arrows from or to these participants, comma-separated").argParser((value) =>
        value.split(",").map((name) => name.trim()),
      ),
    )
    .option("--reads", "include reads")
    .option("--deliveries", "include watch events that caused no action")
    .option("--no-fold", "show repeated arrows individually")
    .option("--wide", "a column for each participant, also where that is wider than the terminal")
    .addOption(
      new Option("--format <form>", "output format").choices(["ascii", "mermaid", "json", "otlp"]).default("ascii"),
    )
    .action(async (object: string | undefined, options: FlowOptions) => {
      const dir = dataDirOf(options);
      if (object !== undefined && TRACE_ID.test(object)) return showTrace(dir, object, options);
      const question = object === undefined ? undefined : objectName(object, options.namespace);
      if (options.follow === true) return follow(dir, question, options);
      await showPaged(await shown(dir, question, options));
    });
}

const TRACE_ID = /^[0-9a-f]{32}$/;

/** What belongs to one OpenTelemetry trace. */
async function showTrace(dir: DataDir, traceId: string, options: FlowOptions): Promise<void> {
  if (options.follow === true) throw new ClusterError("A trace cannot be followed: ask for an object with --follow.");
  const { records, dropped } = await fetchRecords(dir);
  const found = trace(inTrace(records, traceId), { reads: options.reads === true });
  if (found.records.length === 0) {
    const why = dropped > 0 ? `; the oldest ${dropped} records were dropped` : "";
    throw new ClusterError(`There are no records of trace ${traceId}: was it sampled (--tracing-config-file)?${why}`);
  }
  await showPaged(rendered(found.records, options));
}

async function shown(dir: DataDir, object: ObjectName | undefined, options: FlowOptions): Promise<string> {
  const { records: all, dropped } = await fetchRecords(dir);
  const request = object === undefined && options.last === true ? lastFromOutside(all) : undefined;
  const about = object ?? request;
  const question: Question = {
    object,
    request,
    depth: options.depth,
    ...(options.since !== undefined && { since: realClock().now() - options.since }),
    reads: options.reads === true,
  };
  const found = trace(all, question);
  if (found.records.length === 0) throw new ClusterError(nothingFound(about, dropped));
  const notes = options.format === "ascii" ? notesOf(found, dropped) : [];
  const width = terminalWidth() ?? Number.POSITIVE_INFINITY;
  const below = notes.map((note) => `${wrapped(note, width, "")}\n`).join("");
  return rendered(found.records, options) + (below === "" ? "" : `\n${below}`);
}

function rendered(records: readonly FlowRecord[], options: FlowOptions): string {
  const { format, only, fold, reads = false, deliveries = false } = options;
  switch (format) {
    case "json":
      return `${JSON.stringify(records, undefined, 2)}\n`;
    case "otlp":
      return `${JSON.stringify(otlp(records))}\n`;
    default: {
      const diagram = diagramOf(records, { fold, reads, deliveries, only });
      if (only !== undefined && diagram.lines.length === 0) {
        const all = diagramOf(records, { fold, reads, deliveries }).participants;
        throw new ClusterError(`${only.join(", ")} took no part in this flow. Participants: ${all.join(", ")}.`);
      }
      return format === "mermaid" ? mermaid(diagram) : drawn(diagram, options.wide === true);
    }
  }
}

/** Repeats the names of the participants on each page. */
function headsEvery(): number {
  const { isTTY, rows = 24 } = process.stdout;
  return isTTY ? Math.max(10, rows - 2) : Infinity;
}

/**
 * As wide as the terminal, so that most labels fit on their arrows. Columns that do not fit are no columns: then each
 * arrow is a line of text. A file or a pipe has any width.
 */
function drawn(diagram: Diagram, isWide: boolean): string {
  const terminal = terminalWidth();
  const { participants } = diagram;
  const room = Math.floor(((terminal ?? 160) - 20) / Math.max(1, participants.length));
  const columns = ascii(diagram, { columnWidth: Math.max(14, Math.min(30, room)), headsEvery: headsEvery() });
  if (isWide || terminal === undefined || fits(columns, terminal)) return columns;
  const note = `${participants.length} participants take more than ${terminal} columns: a line for each step. --wide draws them, --only NAME,… chooses some.`;
  return `${wrapped(note, terminal, "")}\n${steps(diagram, terminal)}`;
}

/** Of the longest line, texts included. */
function fits(text: string, width: number): boolean {
  return text.split("\n").every((line) => line.length <= width);
}

/** Undefined: it is no terminal. `COLUMNS` says it for one that is not asked. */
function terminalWidth(): number | undefined {
  const { isTTY, columns } = process.stdout;
  const told = Number(process.env.COLUMNS);
  return isTTY ? columns : Number.isInteger(told) && told >= 40 ? told : undefined;
}

/** For an object, past records are shown first. */
async function follow(dir: DataDir, object: ObjectName | undefined, options: FlowOptions): Promise<void> {
  const { only, reads, since, depth, format } = options;
  const query = new URLSearchParams({
    follow: "true",
    ...(object === undefined ? { past: String(since !== undefined) } : { ...object }),
    ...(reads === true && { reads: "true" }),
    ...(since !== undefined && { since: String(realClock().now() - since) }),
    ...(depth !== undefined && { depth: String(depth) }),
  });
  const response = await askServer(dir, `/k8ts/flows?${query}`);
  if (response.statusCode !== 200) throw refused(response.statusCode, await bodyText(response));
  // Long silence is normal here.
  response.setTimeout(0);
  for await (const line of createInterface({ input: response })) {
    const record = JSON.parse(line) as FlowRecord | { readonly type: "live" };
    if (record.type === "live") continue;
    if (format === "json") process.stdout.write(`${line}\n`);
    else for (const words of linesOf(record, only)) process.stdout.write(`${words}\n`);
  }
}

function linesOf(record: FlowRecord, only: readonly string[] | undefined): string[] {
  return diagramOf([record], only === undefined ? {} : { only }).lines.map(
    ({ at, from, to, text, arrow }) =>
      `${new Date(at).toISOString().slice(11, 23)}  ${from} ${ARROWS[arrow]} ${to}  ${text}`,
  );
}

function refused(status: number | undefined, text: string): ClusterError {
  return new ClusterError(`The API server returned ${status}: ${text.trim()}`);
}

const ARROWS = { call: "──►", answer: "──►", watch: "--►", persisted: "══►", note: "···" } as const;

export async function fetchRecords(dir: DataDir): Promise<{ records: FlowRecord[]; dropped: number }> {
  const response = await askServer(dir, "/k8ts/flows?reads=true");
  const text = await bodyText(response);
  if (response.statusCode !== 200) throw refused(response.statusCode, text);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FlowRecord | { type: "end"; dropped: number });
  const records = lines.filter((line): line is FlowRecord => line.type !== "end");
  const end = lines.at(-1);
  return { records, dropped: end?.type === "end" ? end.dropped : 0 };
}

function lastFromOutside(records: readonly FlowRecord[]): RequestRecord | undefined {
  const isOutside = (record: FlowRecord): record is RequestRecord =>
    record.type === "request" &&
    record.cause === undefined &&
    record.written !== undefined &&
    !record.user.startsWith("system:");
  return records.findLast(isOutside);
}

function nothingFound(object: ObjectName | undefined, dropped: number): string {
  const what =
    object === undefined ? "There are no records yet" : `There are no records of ${object.resource} ${object.name}`;
  return dropped === 0 ? `${what}.` : `${what}: the oldest ${dropped} records were dropped.`;
}

/** Throws ClusterError for an unknown resource. */
export function objectName(text: string, namespace: string): ObjectName {
  const slash = text.indexOf("/");
  const [type, name] = [text.slice(0, slash).toLowerCase(), text.slice(slash + 1)];
  if (slash <= 0 || name === "")
    throw new ClusterError(`${JSON.stringify(text)} is not an object: try deployment/web.`);
  const kind = builtIn.find(
    ({ names, group }) =>
      [names.plural, names.singular, ...(names.shortNames ?? [])].includes(type) || `${names.plural}.${group}` === type,
  );
  if (kind !== undefined) {
    const { group, names, scope } = kind;
    return {
      resource: group === "" ? names.plural : `${group}/${names.plural}`,
      namespace: scope === "Namespaced" ? namespace : "",
      name,
    };
  }
  const dot = type.indexOf(".");
  if (dot === -1)
    throw new ClusterError(`${JSON.stringify(type)} is not a resource; write a custom one as plural.group/name.`);
  return { resource: `${type.slice(dot + 1)}/${type.slice(0, dot)}`, namespace, name };
}
