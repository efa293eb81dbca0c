/** A log record as text. */

import { styleText } from "node:util";
import { type Plain, plainValue } from "./plain-value.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogRecord {
  readonly timeMs: number;
  readonly level: LogLevel;
  /** The verbosity from which on it is written; 0 for what is always written. */
  readonly v: number;
  readonly message: string;
  readonly fields: LogFields;
}

/** The source of records with these fields; empty if they name none. */
export function loggerName({ component, controller }: LogFields): string {
  const name = component ?? controller;
  return typeof name === "string" ? name : "";
}

const reserved: ReadonlySet<string> = new Set(["time", "level", "message"]);

/** Fields that are named like a part of the record itself get a `_` behind their name: neither hides the other. */
export function jsonLine({ timeMs, level, message, fields }: LogRecord): string {
  const line: Record<string, Plain> = { time: isoTime(timeMs), level, message: String(message) };
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) line[reserved.has(key) ? `${key}_` : key] = plainValue(value);
  }
  return `${JSON.stringify(line)}\n`;
}

const levelColors = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

export function prettyLines({ timeMs, level, message, fields }: LogRecord, color: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const { component, ...rest } = fields;
  const parts = [
    paint("gray", isoTime(timeMs).slice(11, 23)),
    paint(levelColors[level], level.toUpperCase().padEnd(5)),
  ];
  if (component !== undefined) parts.push(paint("cyan", `${bare(component)}:`));
  parts.push(printable(String(message)));
  const stacks: string[] = [];
  for (const [key, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    const plain = plainValue(value);
    if (isErrorShape(value, plain)) {
      parts.push(paint("gray", `${key}=`) + word(errorText(plain)));
      stacks.push(...stackLines(plain));
    } else parts.push(paint("gray", `${key}=`) + word(plain));
  }
  return `${[parts.join(" "), ...stacks.map((line) => paint("gray", line))].join("\n")}\n`;
}

type PlainError = { readonly [key: string]: Plain };

function isErrorShape(value: unknown, plain: Plain): plain is PlainError {
  return value instanceof Error && typeof plain === "object" && plain !== null && !Array.isArray(plain);
}

function errorText(error: PlainError): Plain {
  return error.message === "" ? (error.name ?? "") : (error.message ?? "");
}

/** The stack, then that of each cause; a cause that is no error is shown as it is. */
function stackLines(error: PlainError): string[] {
  const lines: string[] = [];
  let prefix = "";
  for (let link: Plain | undefined = error; link !== undefined; prefix = "caused by: ") {
    const shape: PlainError | undefined = typeof link === "object" && link !== null ? (link as PlainError) : undefined;
    const text: Plain = shape === undefined ? link : (shape.stack ?? shape.message ?? shape);
    const shown = typeof text === "string" ? text : JSON.stringify(text);
    lines.push(...(prefix + shown).split("\n").map((line) => `    ${printable(line)}`));
    link = shape?.cause;
  }
  return lines;
}

function isoTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? String(timeMs) : date.toISOString();
}

/** A value in `key=value`: quoted where its end would be in doubt. */
function word(value: Plain): string {
  if (typeof value !== "string") return printable(JSON.stringify(value));
  return /^[^\s"=\p{Cc}]+$/u.test(value) ? value : printable(JSON.stringify(value));
}

function bare(value: unknown): string {
  const plain = plainValue(value);
  return printable(typeof plain === "string" ? plain : JSON.stringify(plain));
}

/** Control characters, line breaks among them, must not reach a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
