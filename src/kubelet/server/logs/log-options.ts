/** v1.PodLogOptions from a query. */
import type { Clock } from "#base";
import { isTrue, Refusal } from "../exchange.ts";
import type { LogRequest } from "./read-log.ts";

export interface LogOptions extends Omit<LogRequest, "path"> {
  readonly previous: boolean;
}

export function logOptions(query: URLSearchParams, clock: Pick<Clock, "now">): LogOptions {
  const tailLines = wholeNumber(query, "tailLines", 0, "greater than or equal to 0");
  const limitBytes = wholeNumber(query, "limitBytes", 1, "greater than 0");
  const sinceSeconds = wholeNumber(query, "sinceSeconds", 1, "greater than 0");
  const sinceTime = query.get("sinceTime") ?? "";
  const sinceMs = sinceSeconds !== undefined ? clock.now() - sinceSeconds * 1000 : timeOf(sinceTime);
  const stream = query.get("stream") ?? "All";
  if (!["All", "Stdout", "Stderr"].includes(stream))
    throw invalid("stream", stream, 'must be "All", "Stdout" or "Stderr"');
  return {
    previous: isTrue(query.get("previous")),
    follow: isTrue(query.get("follow")),
    timestamps: isTrue(query.get("timestamps")),
    tailLines,
    limitBytes,
    sinceMs,
    stream: stream === "All" ? undefined : stream === "Stderr" ? "stderr" : "stdout",
  };
}

function wholeNumber(query: URLSearchParams, name: string, least: number, rule: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^-?\d+$/.test(value)) throw new Refusal(400, `${name}: ${JSON.stringify(value)} is not a whole number`);
  if (Number(value) < least) throw invalid(name, value, `must be ${rule}`);
  return Number(value);
}

function timeOf(value: string): number | undefined {
  if (value === "") return undefined;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw new Refusal(400, `sinceTime: ${JSON.stringify(value)} is not a time as RFC 3339 has it`);
  return ms;
}

function invalid(name: string, value: string, rule: string): Refusal {
  return new Refusal(422, `Invalid request: ${name}: Invalid value: ${value}: ${rule}`);
}
