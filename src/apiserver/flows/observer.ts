/**
 * Records each request about a resource, and the work that caused it: see #flows.
 *
 * 1. A request neither waits for its record nor fails because of it.
 * 2. The user comes from authentication. What a client reports about its work is marked where the client cannot vouch
 *    for it.
 */
import type { ObjectMeta } from "#api";
import { type Clock, timeOfDay } from "#base";
import {
  CAUSE_HEADER,
  type Call,
  causeId,
  isRead,
  type RequestAbout,
  readCause,
  type SpanName,
  type Written,
} from "#flows";
import { type SpanContext, TRACEPARENT } from "#tracing";
import { toldReason } from "../authz/authorizer.ts";
import type { ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Authenticated } from "../pipeline/exchange.ts";
import type { RequestObserver } from "../pipeline/request-metrics.ts";
import type { RequestWitness } from "../rest/server-context.ts";
import { recordWork, type WorksOptions } from "./works.ts";

/** More than all plugins need in both rounds of admission. */
const MAX_STAMPS = 128;
/** How many requests in a period have their admission plugins timed: under load, single ones do not matter. */
export const TIMED = 100;
export const TIMED_PERIOD_MS = 100;

export function flowObserver(options: WorksOptions): RequestObserver {
  const { recorder, clock } = options;
  const timeOf = timeOfDay(clock);
  let [periodAt, timed] = [Number.NEGATIVE_INFINITY, 0];
  /** Only requests that begin a flow are timed. */
  const isTimed = (startMs: number) => {
    if (startMs - periodAt >= TIMED_PERIOD_MS) [periodAt, timed] = [startMs, 0];
    return timed++ < TIMED;
  };
  return {
    begins(exchange, startMs) {
      const { info, original } = exchange;
      if (!info.isResourceRequest || recorder.paused || isRead(info.verb)) return;
      const stamps = original.headers[CAUSE_HEADER] === undefined && isTimed(startMs) ? [] : undefined;
      exchange.witness = new Witness(clock, startMs, stamps);
    },

    answered(exchange, response, startMs, tookMs) {
      const { info, witness } = exchange;
      if (!info.isResourceRequest || recorder.paused) return;
      const at = timeOf(startMs);
      if (!(witness instanceof Witness)) {
        note(exchange, response, at, tookMs);
        return;
      }
      const { writes } = witness;
      if (writes.length === 0) note(exchange, response, at, tookMs, witness);
      for (const write of writes) note(exchange, response, at, tookMs, witness, write);
    },
  };

  function note(
    exchange: Authenticated,
    response: ApiResponse,
    at: number,
    tookMs: number,
    witness?: Witness,
    write?: Write,
  ): void {
    const { info, user, original, verdict } = exchange;
    const { headers } = original;
    const header = headers[CAUSE_HEADER];
    // Before the facts are filled in: this may record the work, which uses the same facts.
    const cause = header === undefined ? undefined : causeOf(exchange, header);
    const facts = recorder.facts();
    facts.at = at;
    facts.tookMs = tookMs;
    facts.user = user.name;
    facts.userAgent = headers["user-agent"] ?? "";
    facts.about = write?.about ?? (info.topic as RequestInfo | undefined) ?? info;
    facts.status = response.status;
    facts.reason = response.status < 400 ? undefined : reasonOf(response);
    facts.authorization = verdict === undefined ? undefined : toldReason(verdict);
    facts.cause = cause;
    if (write === undefined) {
      facts.namespace = info.namespace;
      facts.name = info.name;
      facts.revision = 0;
      facts.change = "";
      facts.uid = "";
      facts.writtenAt = 0;
    } else {
      facts.namespace = write.of.namespace ?? "";
      facts.name = write.of.name ?? "";
      facts.revision = write.revision;
      facts.change = write.change;
      facts.uid = write.of.uid ?? "";
      facts.writtenAt = at + write.afterMs;
    }
    facts.mutated = witness?.mutated;
    facts.validated = witness?.validated;
    // Several objects pass admission one after the other: the times are not those of one.
    facts.stamps = info.verb === "deletecollection" ? undefined : witness?.stamps;
    facts.split = witness?.split ?? 0;
    facts.refusedBy = witness?.refusedBy;
    facts.calls = witness?.made;
    facts.span = exchange.span === undefined ? undefined : nameOf(exchange.span.context);
    recorder.recorded(facts);
  }

  /**
   * The id of the work that caused the request, of this user's works only. The work is recorded with its first request.
   */
  function causeOf({ original, user, span }: Authenticated, header: string): string | undefined {
    const name = causeId(header);
    if (name === undefined) return undefined;
    const known = recorder.workOf(user.name, name);
    if (known !== undefined) return known;
    const cause = readCause(header);
    if (cause === undefined) return undefined;
    const userAgent = original.headers["user-agent"] ?? "";
    const teller = { user: user.name, userAgent, isForeign: original.remoteAddress !== undefined };
    // A component that traces sends the span of its work as the parent of its requests.
    const parent = original.headers[TRACEPARENT] === undefined ? undefined : span?.trace.parent;
    return recordWork(cause, { ...teller, span: parent && nameOf(parent) }, options);
  }
}

function nameOf({ traceId, spanId }: SpanContext): SpanName {
  return { traceId, spanId };
}

interface Write {
  readonly of: ObjectMeta;
  readonly revision: number;
  readonly change: Written["change"];
  /** After the request began. */
  readonly afterMs: number;
  /** The resource of the object, where the request is about another one. */
  readonly about: RequestAbout | undefined;
}

/** Sees how admission decides, and what is written. */
class Witness implements RequestWitness {
  readonly writes: Write[] = [];
  mutated: readonly string[] | undefined = undefined;
  validated: readonly string[] | undefined = undefined;
  /** Absent: plugins are not timed. */
  readonly stamps: number[] | undefined;
  split = 0;
  refusedBy: string | undefined = undefined;
  made: Call[] | undefined = undefined;
  readonly #clock: Clock;
  readonly #start: number;

  constructor(clock: Clock, start: number, stamps: number[] | undefined) {
    this.#clock = clock;
    this.#start = start;
    this.stamps = stamps;
  }

  asked(owners: readonly string[]): void {
    if (this.mutated === undefined) this.mutated = owners;
    else if (this.validated === undefined) {
      this.validated = owners;
      this.split = this.stamps?.length ?? 0;
    }
    this.passed();
  }

  passed(): void {
    const { stamps } = this;
    if (stamps !== undefined && stamps.length < MAX_STAMPS)
      stamps.push(((this.#clock.monotonic() - this.#start) * 1000) | 0);
  }

  refused(plugin: string): void {
    this.refusedBy = plugin;
    this.passed();
  }

  calls(to: string, what: string): (failed?: string) => void {
    const from = this.#clock.monotonic();
    return (failed) => {
      const tookMs = this.#clock.monotonic() - from;
      this.made ??= [];
      this.made.push({
        to,
        what,
        afterMs: from - this.#start,
        tookMs,
        ...(failed !== undefined && { failed: failed.slice(0, 120) }),
      });
    };
  }

  wrote(of: ObjectMeta, revision: number, change: Written["change"], about?: RequestAbout): void {
    this.writes.push({ of, revision, change, afterMs: this.#clock.monotonic() - this.#start, about });
  }
}

/** The reason in the Status of the answer. */
function reasonOf(response: ApiResponse): string | undefined {
  if (!("body" in response)) return undefined;
  const text = response.body[0]?.toString("utf8", 0, 2048) ?? "";
  return /"reason":"(\w+)"/.exec(text)?.[1];
}
