/**
 * Records each request about a resource, and the work that it came from: see #flows.
 *
 * 1. Nothing waits for it, and nothing fails because of it.
 * 2. Who somebody is comes from authentication; what they say about their work comes from them, and is marked where it is not theirs to say.
 */
import type { Clock } from "#base";
import { CAUSE_HEADER, type Call, causeId, isRead, readCause } from "#flows";
import type { ApiResponse } from "../http/exchange.ts";
import type { Exchange, Step } from "../pipeline.ts";
import type { AdmissionWitness, WrittenObject } from "../rest/server-context.ts";
import { recordWork, type WorksOptions } from "./works.ts";

const REASON = "authorization.k8s.io/reason";

export type FlowStepOptions = WorksOptions;

export function flowStep(options: FlowStepOptions): Step {
  const { recorder, clock } = options;
  return (exchange, next) => {
    const { info } = exchange;
    if (!info.isResourceRequest) return next();
    const at = clock.now();
    const start = clock.monotonic();
    if (isRead(info.verb))
      return next().then((response) => {
        note(exchange, response, at, clock.monotonic() - start, undefined);
        return response;
      });
    const writes: (WrittenObject & { readonly at: number })[] = [];
    exchange.wrote = (write) => writes.push({ ...write, at: at + clock.monotonic() - start });
    exchange.witness = new Witness(clock, start);
    return next().then((response) => {
      const tookMs = clock.monotonic() - start;
      if (writes.length === 0) note(exchange, response, at, tookMs, undefined);
      for (const write of writes) note(exchange, response, at, tookMs, write);
      return response;
    });
  };

  function note(
    exchange: Exchange,
    response: ApiResponse,
    at: number,
    tookMs: number,
    write: (WrittenObject & { readonly at: number }) | undefined,
  ): void {
    const { info, user, original, annotations } = exchange;
    const cause = causeOf(exchange);
    const facts = recorder.facts(info.verb);
    facts.at = at;
    facts.tookMs = tookMs;
    facts.user = user.name;
    facts.userAgent = original.headers["user-agent"] ?? "";
    facts.verb = info.verb;
    facts.apiGroup = info.apiGroup;
    facts.resource = info.resource;
    facts.subresource = info.subresource;
    facts.namespace = write?.namespace ?? info.namespace;
    facts.name = write?.name ?? info.name;
    facts.status = response.status;
    facts.reason = response.status < 400 ? undefined : reasonOf(response);
    facts.authorization = annotations.get(REASON);
    facts.cause = cause;
    facts.written =
      write === undefined
        ? undefined
        : { revision: write.revision, change: write.change, uid: write.uid, at: write.at };
    const { witness } = exchange;
    if (witness instanceof Witness) {
      facts.mutated = witness.lists[0];
      facts.validated = witness.lists[1];
      facts.refusedBy = witness.refusedBy;
      facts.calls = witness.made;
    }
    recorder.recorded(facts);
  }

  /** The id of the work that sent the request, which is recorded when it is first heard of. */
  function causeOf({ original, user }: Exchange): string | undefined {
    const header = original.headers[CAUSE_HEADER];
    const id = causeId(header);
    if (id === undefined || recorder.knowsWork(id)) return id;
    const cause = readCause(header);
    if (cause === undefined) return undefined;
    recordWork(cause, user.name, original.remoteAddress !== undefined, options);
    return id;
  }
}

/** Sees how admission decides. */
class Witness implements AdmissionWitness {
  readonly lists: (readonly string[])[] = [];
  refusedBy: string | undefined = undefined;
  made: Call[] | undefined = undefined;
  readonly #clock: Clock;
  readonly #start: number;

  constructor(clock: Clock, start: number) {
    this.#clock = clock;
    this.#start = start;
  }

  asked(plugins: readonly string[]): void {
    if (plugins.length > 0 && this.lists.length < 2) this.lists.push(plugins);
  }

  refused(plugin: string): void {
    this.refusedBy = plugin;
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
