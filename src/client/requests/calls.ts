/**
 * Sends requests: deadlines, retries that the server asks for, and failures as StatusError.
 *
 * 1. A request is retried only after Retry-After on 429 and 503, at most MAX_TRIES times, and within its deadline.
 * 2. Every failure throws a StatusError, except for the caller's own abort, which throws its reason.
 */
import { fromStatus, isObject, type Json, parseJson, reasonOfCode, StatusError } from "#api";
import { type Clock, childController, type Ending, type Timer } from "#base";
import { CAUSE_HEADER } from "#flows";
import { readAll, type Transport, type TransportRequest, type TransportResponse } from "../transport/transport.ts";
import { frozen } from "./frozen.ts";
import type { WatchStream } from "./watch.ts";

const MAX_TRIES = 5;
const MAX_WAIT_MS = 30_000;

export interface Call {
  readonly method: string;
  readonly target: string;
  readonly accept?: string;
  readonly contentType?: string | undefined;
  readonly body?: string;
  /** Instead of a body: sent as JSON. */
  readonly value?: object | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly cause?: string | undefined;
}

/** What the caller accepts as a response. */
type Form = Required<Pick<TransportRequest, "takesValues" | "goesOn">>;

const AS_BYTES: Form = { takesValues: false, goesOn: false };
const AS_VALUE: Form = { takesValues: true, goesOn: false };
const AS_EVENTS: Form = { takesValues: true, goesOn: true };

export interface CallsOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly timeoutMs: number;
}

export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** The body of the response as text. */
  async text(call: Call): Promise<string> {
    using deadline = this.#deadline(call);
    return readAll(await this.#answered(call, deadline.ending, AS_BYTES));
  }

  async json(call: Call): Promise<Json> {
    using deadline = this.#deadline(call);
    const answer = await this.#answered(call, deadline.ending, AS_VALUE);
    return answer.value === undefined ? parseJson(await readAll(answer)) : (frozen(answer.value()) as Json);
  }

  /** A long-running response, as bytes or as events. The deadline is for its head, the call's signal for all of it. */
  async stream(call: Call): Promise<WatchStream> {
    const { ending, timer } = this.#deadline(call);
    try {
      const { body } = await this.#answered(call, ending, AS_EVENTS);
      return { body, [Symbol.dispose]: () => ending[Symbol.dispose]() };
    } catch (error) {
      ending[Symbol.dispose]();
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #deadline(call: Call): CallDeadline {
    const limit = call.timeoutMs ?? this.#options.timeoutMs;
    const ending = childController(call.signal);
    return new CallDeadline(
      ending,
      this.#options.clock.timer(limit, () => ending.abort(tooLate(call, limit))),
    );
  }

  #request(call: Call, ending: Ending, { takesValues, goesOn }: Form): TransportRequest {
    const { method, target, body, value, accept = "application/json", contentType, cause } = call;
    const headers: Record<string, string> = { accept, "user-agent": this.#options.userAgent };
    if (contentType !== undefined) headers["content-type"] = contentType;
    if (cause !== undefined) headers[CAUSE_HEADER] = cause;
    return { method, target, headers, ending, body, value, takesValues, goesOn };
  }

  async #answered(call: Call, ending: Ending, form: Form): Promise<TransportResponse> {
    const request = this.#request(call, ending, form);
    const first = await this.#options.transport.send(request);
    return isGood(first) ? first : this.#retried(call, request, first);
  }

  /** Retries after a first response that was not a success. */
  async #retried(call: Call, request: TransportRequest, first: TransportResponse): Promise<TransportResponse> {
    const { transport, clock } = this.#options;
    let response = first;
    for (let tries = 1; ; tries++) {
      const error = failure(response, await readAll(response), call);
      const waitMs = retryAfterMs(response);
      if (waitMs === undefined || tries === MAX_TRIES) throw error;
      await clock.sleep(waitMs, request.ending.signal);
      response = await transport.send(request);
      if (isGood(response)) return response;
    }
  }
}

/** Disposing of it cancels the timer and detaches from the caller's signal. */
class CallDeadline implements Disposable {
  readonly ending: Ending;
  readonly timer: Timer;

  constructor(ending: Ending, timer: Timer) {
    this.ending = ending;
    this.timer = timer;
  }

  [Symbol.dispose](): void {
    this.timer.cancel();
    this.ending[Symbol.dispose]();
  }
}

function isGood({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

/** Undefined: no retry. A wait beyond MAX_WAIT_MS is an error at once. */
function retryAfterMs({ status, headers }: TransportResponse): number | undefined {
  const after = headers["retry-after"];
  if ((status !== 429 && status !== 503) || after === undefined || !/^\d+$/.test(after)) return undefined;
  const ms = Number(after) * 1000;
  return ms > MAX_WAIT_MS ? undefined : ms;
}

function failure({ status }: TransportResponse, text: string, { method, target }: Call): StatusError {
  const body = parsed(text);
  if (isObject(body) && body.kind === "Status") return fromStatus(body);
  const message = `${method} ${target} was answered with ${status}: ${text.slice(0, 200).trim()}`;
  return new StatusError(reasonOfCode(status), message, { code: status });
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined; // not a Status: the message has it as text
  }
}

function tooLate({ method, target }: Call, ms: number): StatusError {
  return new StatusError("Timeout", `${method} ${target}: no answer within ${ms / 1000} seconds`);
}
