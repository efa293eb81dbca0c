/** A request to the kubelet and its response, as values. */

import type { IncomingHttpHeaders } from "node:http";
import { writeJson } from "#api";

export interface Ask {
  readonly method: string;
  readonly path: string;
  /** The decoded parts of the path after the first. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The whole body, or a stream. */
  readonly body: string | Buffer | AsyncIterable<Buffer>;
}

export type Handler = (ask: Ask) => Promise<Answer> | Answer;

const PLAIN = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

/** A plain text response. */
export function text(status: number, message: string): Answer {
  return { status, headers: PLAIN, body: message };
}

export function json(value: unknown): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body: writeJson(value) };
}

/** Thrown to end a request with a response. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(status: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "Refusal";
    this.answer = text(status, message);
  }
}

/** True unless the value is "false" or "0", also for a parameter without a value. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}
