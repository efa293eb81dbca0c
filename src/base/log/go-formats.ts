/**
 * Records as programs in Go write them, so that what reads those logs reads these.
 *
 *     klog   I0506 07:08:09.010000    4711 file.ts:12] "message" key="value"
 *     zap    {"ts":1904281689010,"caller":"folder/file.ts:12","msg":"message","v":0,"key":"value"}
 *
 * 1. One record is one line, whatever it holds.
 * 2. An error is its message under the key `err`; of a record of level error, zap's form has its stack, too.
 * 3. Fields that are named like a part of the record itself get a `_` behind their name.
 */
import { type CallSite, siteText } from "./call-site.ts";
import { type LogRecord, loggerName } from "./log-format.ts";
import { type Plain, plainValue } from "./plain-value.ts";

const SEVERITY = { debug: "I", info: "I", warn: "W", error: "E" } as const;
const NAMES: ReadonlySet<string> = new Set(["component", "controller"]);
const RESERVED: ReadonlySet<string> = new Set(["ts", "logger", "caller", "msg", "v"]);

export function klogLine(record: LogRecord, site: CallSite | undefined): string {
  const { level, message } = record;
  const parts = [JSON.stringify(String(message))];
  const name = loggerName(record.fields);
  if (name !== "") parts.push(`logger=${JSON.stringify(name)}`);
  for (const [key, value] of fieldsOf(record)) parts.push(`${key}=${JSON.stringify(value)}`);
  const pid = String(process.pid).padStart(7);
  return `${SEVERITY[level]}${klogTime(record.timeMs)} ${pid} ${siteText(site, false)}] ${parts.join(" ")}\n`;
}

export function zapLine(record: LogRecord, site: CallSite | undefined): string {
  const { timeMs, level, message, v, fields } = record;
  const line: Record<string, Plain> = { ts: timeMs };
  const name = loggerName(fields);
  if (name !== "") line.logger = name;
  line.caller = siteText(site, true);
  line.msg = String(message);
  if (level !== "error") line.v = v;
  for (const [key, value] of fieldsOf(record)) line[RESERVED.has(key) ? `${key}_` : key] = value;
  const failure = fields.error ?? fields.err;
  if (level === "error" && failure instanceof Error && typeof failure.stack === "string") {
    line.errVerbose = failure.stack;
  }
  return `${JSON.stringify(line)}\n`;
}

/** The record's fields, the error last. */
function fieldsOf({ fields }: LogRecord): (readonly [string, Plain])[] {
  const found: (readonly [string, Plain])[] = [];
  let failure: Plain | undefined;
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || NAMES.has(key)) continue;
    const plain = value instanceof Error ? String(value.message || value.name) : plainValue(value);
    if (key === "error" || key === "err") failure = plain;
    else found.push([key, plain]);
  }
  return failure === undefined ? found : [...found, ["err", failure]];
}

/** `0506 07:08:09.010000`, in UTC. */
function klogTime(timeMs: number): string {
  const date = new Date(timeMs);
  if (Number.isNaN(date.getTime())) return String(timeMs);
  const text = date.toISOString();
  return `${text.slice(5, 7)}${text.slice(8, 10)} ${text.slice(11, 23)}000`;
}
