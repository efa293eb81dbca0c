/**
 * Answers of HTTP/1.1 with heads that are partly known by heart: Node looks at every letter of every header each time, which costs more than to find the few
 * that most answers have.
 *
 * 1. A line is remembered after Node's own rules have found nothing wrong with it.
 * 2. Only headers that say nothing to Node itself are lines: what is about the body's length and the connection is Node's.
 */
import { type OutgoingHttpHeaders, ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import { memoized } from "#base";
import type { SharedHeaders } from "./exchange.ts";
import type { AnswerHeaders } from "./send.ts";

const MAX_MEMOIZED = 256;

/** The line of a header, by its value. */
const lines: ReadonlyMap<string, (value: string) => string> = new Map(
  ["cache-control", "content-type"].map((name) => [name, memoized(MAX_MEMOIZED, (value) => checked(name, value))]),
);

/** Node's way to put a head together. It is not documented: without it, every header goes the usual way. */
const { _storeHeader: store } = ServerResponse.prototype as unknown as {
  readonly _storeHeader?: (firstLine: string, headers: unknown) => void;
};

export class LinedResponse extends ServerResponse {
  #lines = "";

  head(status: number, headers: AnswerHeaders, shared?: SharedHeaders): void {
    const others: Record<string, AnswerHeaders[string]> = store === undefined ? { ...shared?.fields } : {};
    let known = linesOf(shared);
    for (const name in headers) {
      const value = headers[name];
      const lineOf = store === undefined ? undefined : lines.get(name);
      if (lineOf !== undefined && typeof value === "string") known += lineOf(value);
      else if (value !== undefined) others[name] = value;
    }
    this.#lines = known;
    this.writeHead(status, others as OutgoingHttpHeaders);
  }

  _storeHeader(firstLine: string, headers: unknown): void {
    store?.call(this, firstLine + this.#lines, headers);
  }
}

function linesOf(shared: SharedHeaders | undefined): string {
  if (shared === undefined) return "";
  if (shared.lines === undefined) {
    const lines = Object.entries(shared.fields).map(([name, value]) => checked(name, value));
    shared.lines = lines.join("");
  }
  return shared.lines;
}

/** Throws what Node would. */
function checked(name: string, value: string): string {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  return `${name}: ${value}\r\n`;
}
