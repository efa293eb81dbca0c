/**
 * Audit as a step of the pipeline: an event for each stage of a request.
 *
 *     RequestReceived ──► next ──► ResponseStarted (long-running) ──► ResponseComplete · Panic: an unexpected error
 *
 * 1. Every request has an id, the caller's own or a new one, and every answer returns it.
 * 2. `user` is who has authenticated; an impersonated user is recorded beside it.
 * 3. An answer waits for its events only if the mode of a sink demands it.
 */
import type { Kind } from "#api";
import { type Clock, type Counter, type MetricsRegistry, settle } from "#base";
import { type Answering, type ApiRequest, type ApiResponse, isStream } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { withLife } from "../http/stream-life.ts";
import { isWriting } from "../http/verbs.ts";
import type { UserInfo } from "../identity/user.ts";
import type { Next, Step } from "../pipeline/compose.ts";
import type { Authenticated } from "../pipeline/exchange.ts";
import type { PipelineOptions } from "../pipeline/pipeline.ts";
import { answeredObject, statusOf } from "./answered-object.ts";
import { type EventHead, EventWriter, type Findings } from "./event.ts";
import type { Decide, Level, Stage, Verdict } from "./policy.ts";
import { SentObject } from "./sent-object.ts";
import type { Sink } from "./sink.ts";

export interface AuditStepOptions {
  readonly decide: Decide;
  readonly sinks: readonly Sink[];
  /** The kind of a path, to decode answers that are not JSON. */
  kindOf(info: RequestInfo): Kind | undefined;
  newId(): string;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
}

export type AuditSteps = Required<Pick<PipelineOptions, "audit" | "turnedAway">>;

const AUDIT_ID = "audit-id";
const NOTHING_YET: Findings = {};

/** Ids without events, where nothing is audited. */
export function auditIds(newId: () => string): AuditSteps {
  return {
    audit: (exchange, next) => {
      exchange.headers[AUDIT_ID] = idOf(exchange.original, newId);
      return next(exchange);
    },
    turnedAway: (request, _, answer) => withId(answer, idOf(request, newId)),
  };
}

export function auditSteps(options: AuditStepOptions): AuditSteps {
  const { decide, sinks, newId, clock, metrics } = options;
  const writer = new EventWriter();
  const total = metrics
    .counter({ name: "apiserver_audit_event_total", help: "Audit events sent to the sinks." })
    .labels();
  const levels = metrics.counter({
    name: "apiserver_audit_level_total",
    help: "Requests, by the level at which they are audited.",
    labels: ["level"],
  });
  const counters = new Map<Level, Counter>();
  const count = ({ level }: Verdict) => {
    const counter = counters.get(level) ?? levels.labels(level);
    counters.set(level, counter);
    counter.inc();
  };
  const rejected = metrics
    .counter({
      name: "apiserver_audit_requests_rejected_total",
      help: "Requests that were refused because they could not be audited.",
    })
    .labels();
  const strict = sinks.filter(({ mode }) => mode === "blocking-strict");
  const blocking = sinks.filter(({ mode }) => mode !== "batch");
  const parts = { ...options, writer, emitted: () => total.inc() };

  const audit: Step<Authenticated> = (exchange, next) => {
    const { original, info, caller } = exchange;
    const id = idOf(original, newId);
    exchange.headers[AUDIT_ID] = id;
    const verdict = decide(caller, info);
    count(verdict);
    if (verdict.level === "None") return next(exchange);
    const record = new Record(parts, verdict, id, original, info, caller, clock.now());
    record.received();
    if (record.sent !== undefined) exchange.observer = record.sent;
    return blocking.length === 0 ? written(record, exchange, next) : stored(record, exchange, next);
  };

  const written = (record: Record, exchange: Authenticated, next: Next<Authenticated>): Answering =>
    settle(
      () => next(exchange),
      (response) => record.answer(exchange, response),
      (error) => failed(record, exchange, error),
    );

  const stored = async (record: Record, exchange: Authenticated, next: Next<Authenticated>): Promise<ApiResponse> => {
    if (strict.length > 0 && !(await allWritten(strict))) {
      rejected.inc();
      return notStored(exchange.original);
    }
    const answer = await written(record, exchange, next);
    await allWritten(blocking);
    return answer;
  };

  return {
    audit,
    turnedAway: (request, info, answer) => {
      const id = idOf(request, newId);
      const verdict = decide(undefined, info);
      count(verdict);
      if (verdict.level !== "None")
        new Record(parts, verdict, id, request, info, undefined, clock.now()).turnAway(answer);
      return withId(answer, id);
    },
  };
}

interface Parts extends AuditStepOptions {
  readonly writer: EventWriter;
  emitted(): void;
}

/** One request and its stages. */
class Record {
  /** Of requests that write. */
  readonly sent: SentObject | undefined;
  readonly #parts: Parts;
  readonly #verdict: Verdict;
  readonly #info: RequestInfo;
  readonly #head: EventHead;

  constructor(
    parts: Parts,
    verdict: Verdict,
    id: string,
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo | undefined,
    receivedMs: number,
  ) {
    this.#parts = parts;
    this.#verdict = verdict;
    this.#info = info;
    this.#head = parts.writer.begin(verdict.level, id, request, info, user, receivedMs);
    this.sent = isWriting(info.verb) ? new SentObject(verdict, request.headers["content-type"]) : undefined;
  }

  received(): void {
    this.#emit("RequestReceived", NOTHING_YET, this.#head.receivedMs);
  }

  #emit(stage: Stage, found: Findings, nowMs = this.#parts.clock.now()): void {
    const { omitted } = this.#verdict;
    if (omitted.size > 0 && omitted.has(stage)) return;
    const { writer, sinks, emitted } = this.#parts;
    const event = writer.event(this.#head, stage, nowMs, found);
    emitted();
    for (const sink of sinks) sink.push(event);
  }

  /** The stages of an answer; of a stream, when it starts and ends. */
  answer(exchange: Authenticated, response: ApiResponse): ApiResponse {
    const status = statusOf(response, this.#info);
    const whole = this.#findings(exchange, status, response);
    if (isLongRunning(this.#info)) this.#emit("ResponseStarted", whole);
    if (!isStream(response)) {
      this.#emit("ResponseComplete", whole);
      return response;
    }
    return withLife(response, {
      ended: (failure) => {
        if (failure === undefined) this.#emit("ResponseComplete", this.#findings(exchange, status));
        else this.panic(exchange, failure);
      },
    });
  }

  panic(exchange: Authenticated, error: unknown): void {
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
    const status = { metadata: {}, status: "Failure", message, reason: "InternalError", code: 500 };
    this.#emit("Panic", this.#findings(exchange, JSON.stringify(status)));
  }

  /** Authentication has refused the request: one event. */
  turnAway(response: ApiResponse): void {
    const responseObject = this.#verdict.objects === "both" ? this.#objectIn(response) : undefined;
    this.#emit("ResponseStarted", { status: statusOf(response, this.#info), responseObject });
  }

  #findings(exchange: Authenticated, status: string | number, response?: ApiResponse): Findings {
    const { user, caller, constraint, verdict, annotations, bodyAnnotations } = exchange;
    const { objects } = this.#verdict;
    return {
      impersonated: user === caller ? undefined : user,
      constraint,
      sent: this.sent?.identity,
      status,
      requestObject: objects === "none" ? undefined : this.sent?.pieces,
      responseObject: response && objects === "both" ? this.#objectIn(response) : undefined,
      verdict,
      annotations,
      bodyAnnotations: objects === "none" ? undefined : bodyAnnotations,
    };
  }

  #objectIn(response: ApiResponse) {
    const info = this.#info;
    return answeredObject(response, info, this.#parts.kindOf(info), this.#verdict.omitManagedFields);
  }
}

function failed(record: Record, exchange: Authenticated, error: unknown): never {
  record.panic(exchange, error);
  throw error;
}

async function allWritten(sinks: readonly Sink[]): Promise<boolean> {
  const outcomes = await Promise.all(sinks.map((sink) => sink.written()));
  return outcomes.every((fine) => fine);
}

function idOf({ headers }: ApiRequest, newId: () => string): string {
  return headers[AUDIT_ID] || newId();
}

function withId(response: ApiResponse, id: string): ApiResponse {
  return { ...response, headers: { ...response.headers, [AUDIT_ID]: id } };
}

function notStored({ target, path }: ApiRequest): ApiResponse {
  const text = `Internal Server Error: ${JSON.stringify(target ?? path)}: failed to store audit event\n`;
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status: 500, headers, body: [Buffer.from(text)] };
}
