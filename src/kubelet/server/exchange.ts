/** A request to the kubelet and its answer, as values. */
import type { IncomingHttpHeaders } from "node:http";

export interface Ask {
  readonly method: string;
  readonly path: string;
  /** The path's parts, decoded, without the first, which says what is asked for. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller has gone, or the server ends. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole, or piece by piece. */
  readonly body: string | Buffer | AsyncIterable<Buffer>;
}

export type Handler = (ask: Ask) => Promise<Answer> | Answer;

const PLAIN = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

/** A line of text, as the kubelet answers where it is no document. */
export function text(status: number, message: string): Answer {
  return { status, headers: PLAIN, body: message };
}

export function json(value: unknown): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

/** Ends a request with an answer, from wherever it is noticed that it cannot go on. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(status: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "Refusal";
    this.answer = text(status, message);
  }
}

/** Whatever is not plainly false is true, also a parameter without a value. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}
