/**
 * GET /logs/?query=…: the logs of services of the node, from its journal or from files in the directory of logs.
 *
 *     service ──► journalctl --unit ──► nothing? ──► SERVICE.log, SERVICE, SERVICE/SERVICE.log
 *     a path  ──► the file
 *
 * 1. A query is checked before anything is read, with upstream's fields and words.
 * 2. The program is started without a shell; names have no characters that could be options.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "#base";
import { type Answer, type Ask, Refusal } from "../exchange.ts";

export interface LogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly sinceTime?: string | undefined;
  readonly untilTime?: string | undefined;
  readonly tailLines?: number | undefined;
  readonly pattern?: string | undefined;
  readonly boot?: number | undefined;
}

/** What a program prints; undefined if the machine does not have it. */
export type RunJournal = (args: readonly string[], signal: AbortSignal) => Promise<string | undefined>;

const MOST_LINES = 100_000;
const LONGEST_NAME = 256;
const MOST_BYTES = 64 * 1024 * 1024;
const OPTIONS = ["sinceTime", "untilTime", "tailLines", "pattern", "boot"] as const;

/** Throws Refusal with all problems. */
export function readLogQuery(query: URLSearchParams, nowMs: number): LogQuery {
  const problems: string[] = [];
  const invalid = (name: string, value: unknown, why: string) =>
    void problems.push(`${name}: Invalid value: ${JSON.stringify(value)}: ${why}`);
  const asked = query.getAll("query").filter((each) => each !== "");
  const files = asked.filter((each) => /[/\\]/.test(each));
  const services = asked.filter((each) => !files.includes(each));
  if (asked.length === 0) problems.push("query: Required value: cannot be empty with options");
  if (files.length > 0 && services.length > 0) invalid("query", asked, "cannot specify a file and service");
  if (files.length > 1) invalid("query", files, "cannot specify more than one file");
  for (const service of services) {
    if (service.length > LONGEST_NAME) invalid("query", service, "length must be less than 100");
    else if (!/^[\w@:][\w.@:-]*$/.test(service)) invalid("query", service, "input contains unsupported characters");
  }
  for (const file of files)
    if (file.includes("\0") || file.split(/[/\\]/).includes("..")) invalid("query", file, "must be a local path");
  const whole = (name: string, from: number, to: number, why: string) => {
    const text = query.get(name) ?? "";
    if (text === "") return undefined;
    const value = Number(text);
    if (!/^[+-]?\d+$/.test(text)) invalid(name, text, `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
    else if (value < from || value > to) invalid(name, value, why);
    return value;
  };
  const time = (name: string) => {
    const text = query.get(name) ?? "";
    if (text === "") return undefined;
    const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
    if (!isTime || Number.isNaN(Date.parse(text))) invalid(name, text, "invalid time format");
    else if (Date.parse(text) > nowMs) invalid(name, text, `${name} cannot be in the future`);
    return text;
  };
  const tailLines = whole("tailLines", 0, MOST_LINES, `must be between 0 and ${MOST_LINES}, inclusive`);
  const boot = whole("boot", Number.NEGATIVE_INFINITY, 0, "must be less than 1");
  const [sinceTime, untilTime] = [time("sinceTime"), time("untilTime")];
  if (sinceTime !== undefined && untilTime !== undefined && Date.parse(sinceTime) > Date.parse(untilTime))
    invalid("untilTime", untilTime, "must be after `sinceTime`");
  const pattern = query.get("pattern") || undefined;
  if (pattern !== undefined && pattern.length > 1000) invalid("pattern", pattern, "must be at most 1000 characters");
  const given = OPTIONS.filter((name) => (query.get(name) ?? "") !== "");
  if (files.length > 0 && given.length > 0)
    invalid("query", files, `options cannot be given for a file: ${given.join()}`);
  if (problems.length > 0) {
    const text = problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
    throw new Refusal(400, `${text}\n`);
  }
  return { services, files, sinceTime, untilTime, tailLines, pattern, boot };
}

export async function queryLogs(
  root: string,
  { query, signal }: Pick<Ask, "query" | "signal">,
  clock: Clock,
  run: RunJournal = journalctl,
): Promise<Answer> {
  const wanted = readLogQuery(query, clock.now());
  const headers = { "content-type": "text/plain; charset=utf-8" };
  const [file] = wanted.files;
  if (file !== undefined) {
    const text = await textOf(join(root, file));
    if (text === undefined) throw new Refusal(404, `log not found for ${file}\n`);
    return { status: 200, headers, body: text };
  }
  const parts: string[] = [];
  for (const service of wanted.services) {
    const text = (await ofJournal(service, wanted, run, signal)) ?? (await ofFiles(root, service, wanted));
    parts.push(text ?? `\nfailed to get logs for service ${JSON.stringify(service)}: log not found for ${service}\n`);
  }
  return { status: 200, headers, body: parts.join("") };
}

export function journalArgs(service: string, { sinceTime, untilTime, tailLines, pattern, boot }: LogQuery) {
  const time = (text: string) => new Date(text).toISOString().slice(0, 19).replace("T", " ");
  return [
    "--utc",
    "--no-pager",
    "--output=short-precise",
    ...(sinceTime === undefined ? [] : [`--since=${time(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${time(untilTime)}`]),
    ...(tailLines === undefined ? [] : [`--lines=${tailLines}`]),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : [`--boot=${boot}`]),
    `--unit=${service}`,
  ];
}

async function ofJournal(service: string, query: LogQuery, run: RunJournal, signal: AbortSignal) {
  const text = await run(journalArgs(service, query), signal);
  return text === undefined || text.trim() === "" || text.includes("-- No entries --") ? undefined : text;
}

async function ofFiles(root: string, service: string, { tailLines, pattern }: LogQuery): Promise<string | undefined> {
  for (const name of [`${service}.log`, service, `${service}/${service}.log`]) {
    const text = await textOf(join(root, name));
    if (text === undefined) continue;
    const lines = text.split("\n").slice(0, text.endsWith("\n") ? -1 : undefined);
    const found = pattern === undefined ? lines : lines.filter((line) => line.includes(pattern));
    const last = tailLines === undefined ? found : found.slice(found.length - Math.min(tailLines, found.length));
    return last.map((line) => `${line}\n`).join("");
  }
  return undefined;
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "EISDIR", "ENOTDIR"].includes(error.code ?? "")) return undefined;
    throw error;
  });
}

const execute = promisify(execFile);

async function journalctl(args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await execute("journalctl", [...args], { signal, maxBuffer: MOST_BYTES, encoding: "utf8" })).stdout;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It is not there, or it found nothing: it ends with a code then.
    if (code === "ENOENT" || typeof code === "number") return undefined;
    throw error;
  }
}
