/**
 * Records each request about a resource, and the work that it came from: see #flows.
 *
 * 1. Nothing waits for it, and nothing fails because of it.
 * 2. Who somebody is comes from authentication; what they say about their work comes from them, and is marked where it is not theirs to say.
 */
import type { Clock } from "#base";
import { CAUSE_HEADER, type Call, causeId, isRead, readCause } from "#flows";
import type { ApiResponse } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Exchange, Step } from "../pipeline.ts";
import type { AdmissionWitness, WrittenObject } from "../rest/server-context.ts";
import { recordWork, type WorksOptions } from "./works.ts";

/** How long the time of day may be off after it was set. */
const CLOCK_SET_MS = 1_000;
/** More than all plugins together ask for, in two rounds. */
const MAX_STAMPS = 128;
const REASON = "authorization.k8s.io/reason";

export type FlowStepOptions = WorksOptions;

export function flowStep(options: FlowStepOptions): Step {
  const { recorder, clock } = options;
  let [offset, setAt] = [0, Number.NEGATIVE_INFINITY];
  // Two clocks are asked where one is not enough: what is asked of every request adds up.
  const timeOf = (monotonic: number) => {
    if (monotonic - setAt > CLOCK_SET_MS) [offset, setAt] = [clock.now() - monotonic, monotonic];
    return monotonic + offset;
  };
  return (exchange, next) => {
    const { info } = exchange;
    if (!info.isResourceRequest || recorder.paused) return next();
    const start = clock.monotonic();
    const at = timeOf(start);
    if (isRead(info.verb))
      return next().then((response) => {
        note(exchange, response, at, clock.monotonic() - start);
        return response;
      });
    const isTimed = exchange.original.headers[CAUSE_HEADER] === undefined;
    const witness = new Witness(clock, start, isTimed);
    exchange.wrote = (write) => witness.writes.push({ write, at: at + clock.monotonic() - start });
    exchange.witness = witness;
    return next().then((response) => {
      const tookMs = clock.monotonic() - start;
      if (witness.writes.length === 0) note(exchange, response, at, tookMs, witness);
      for (const noted of witness.writes) note(exchange, response, at, tookMs, witness, noted);
      return response;
    });
  };

  function note(
    exchange: Exchange,
    response: ApiResponse,
    at: number,
    tookMs: number,
    witness?: Witness,
    noted?: Noted,
  ): void {
    const { info, user, original, annotations } = exchange;
    const cause = causeOf(exchange);
    const object = noted?.write ?? info;
    const facts = recorder.facts();
    facts.at = at;
    facts.tookMs = tookMs;
    facts.user = user.name;
    facts.userAgent = original.headers["user-agent"] ?? "";
    facts.about = (info.topic as RequestInfo | undefined) ?? info;
    facts.namespace = object.namespace;
    facts.name = object.name;
    facts.status = response.status;
    facts.reason = response.status < 400 ? undefined : reasonOf(response);
    facts.authorization = annotations.get(REASON);
    facts.cause = cause;
    facts.revision = noted?.write.revision ?? 0;
    facts.change = noted?.write.change ?? "";
    facts.uid = noted?.write.uid ?? "";
    facts.writtenAt = noted?.at ?? 0;
    facts.mutated = witness?.mutated;
    facts.validated = witness?.validated;
    // Of several objects, each was asked about: these are not the times of one.
    facts.stamps = info.verb === "deletecollection" ? undefined : witness?.stamps;
    facts.split = witness?.split ?? 0;
    facts.refusedBy = witness?.refusedBy;
    facts.calls = witness?.made;
    recorder.recorded(facts);
  }

  /** The id of the work that sent the request, which is recorded when it is first heard of. */
  function causeOf({ original, user }: Exchange): string | undefined {
    const header = original.headers[CAUSE_HEADER];
    const id = causeId(header);
    if (id === undefined || recorder.knowsWork(id)) return id;
    const cause = readCause(header);
    if (cause === undefined) return undefined;
    const userAgent = original.headers["user-agent"] ?? "";
    recordWork(cause, { user: user.name, userAgent, isForeign: original.remoteAddress !== undefined }, options);
    return id;
  }
}

interface Noted {
  readonly write: WrittenObject;
  readonly at: number;
}

/** Sees how admission decides, and what is written. */
class Witness implements AdmissionWitness {
  readonly writes: Noted[] = [];
  mutated: readonly string[] | undefined = undefined;
  validated: readonly string[] | undefined = undefined;
  readonly stamps: number[] | undefined;
  split = 0;
  refusedBy: string | undefined = undefined;
  made: Call[] | undefined = undefined;
  readonly #clock: Clock;
  readonly #start: number;

  /** Each plugin is timed where a flow begins: somebody waits for the answer, and there are few of these. Of others, none. */
  constructor(clock: Clock, start: number, isTimed: boolean) {
    this.#clock = clock;
    this.#start = start;
    this.stamps = isTimed ? [] : undefined;
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
}

/** As the Status in the answer says. */
function reasonOf(response: ApiResponse): string | undefined {
  if (!("body" in response)) return undefined;
  const text = response.body[0]?.toString("utf8", 0, 2048) ?? "";
  return /"reason":"(\w+)"/.exec(text)?.[1];
}
