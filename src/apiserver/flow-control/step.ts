/**
 * Flow control as a step of the pipeline.
 *
 *     request ──► classify ──► estimate ──► enter its level ──► next ──► finish
 *                                              └──► wait ──► next, or 429
 *
 * 1. A request that finds seats free goes on in the same turn: nothing is waited for, no timer is set.
 * 2. A watch holds its seats until it has started; other requests that last as long as they like hold none.
 * 3. Whoever waits and leaves, or waits for too long, frees the place.
 */
import type { Clock } from "#base";
import { type ApiResponse, isStream, whenGone } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import { withLife } from "../http/stream-life.ts";
import type { Step } from "../pipeline.ts";
import type { Configuration, Route } from "./configuration.ts";
import { Ticket } from "./ticket.ts";
import type { TimedRatio } from "./timed-ratio.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { ONE_SEAT, type WorkEstimator } from "./work-estimate.ts";

export const READING_VERBS: ReadonlySet<string> = new Set(["get", "list", "watch", "head", "options"]);

export interface FlowControlStepOptions {
  readonly configuration: Configuration;
  readonly estimator: WorkEstimator;
  readonly watches: WatchCounts;
  readonly readWrite: ReadWriteRatios;
  readonly clock: Clock;
}

export interface ReadWriteRatios {
  readonly waiting: { readonly readOnly: TimedRatio; readonly mutating: TimedRatio };
  readonly executing: { readonly readOnly: TimedRatio; readonly mutating: TimedRatio };
}

export function flowControlStep(options: FlowControlStepOptions): Step {
  const { configuration, estimator, clock, readWrite } = options;

  const execute = (ticket: Ticket, route: Route, next: () => Promise<ApiResponse>): Promise<ApiResponse> => {
    const held = new Held(ticket, route, readWrite.executing, clock);
    ticket.exchange.held = held;
    return ticket.exchange.info.verb === "watch" ? starting(held, ticket, options, next) : executing(held, next);
  };

  return (exchange, next) => {
    const { info, user, request } = exchange;
    if (info.verb !== "watch" && isLongRunning(info)) return next();
    const route = configuration.classify(user, info);
    const { level, definition, samples } = route;
    exchange.headers["x-kubernetes-pf-flowschema-uid"] = definition.uid;
    exchange.headers["x-kubernetes-pf-prioritylevel-uid"] = level.uid;
    const work = level.exempt ? ONE_SEAT : estimator.estimate(info, request.query, level.widest, samples.watches);
    const distinguisher = level.queuing.type === "queue" ? definition.distinguisher(user, info) : "";
    const ticket = new Ticket(route, distinguisher, exchange, work, clock.monotonic());
    samples.seats.observe(ticket.width);
    const entry = level.queue.enter(ticket, route.hand(distinguisher));
    if (entry === "execute") return execute(ticket, route, next);
    if (entry === "wait") {
      return wait(ticket, route, options).then((goesOn) =>
        goesOn ? execute(ticket, route, next) : refuse(route, clock),
      );
    }
    if (!level.exempt) samples.waitedInVain.observe(0);
    return Promise.resolve(refuse(route, clock));
  };
}

/** What a request occupies from its start on, until it lets go. */
class Held {
  readonly #ticket: Ticket;
  readonly #route: Route;
  readonly #ratio: TimedRatio;
  readonly #clock: Clock;
  #released = false;

  constructor(ticket: Ticket, route: Route, ratios: ReadWriteRatios["executing"], clock: Clock) {
    this.#ticket = ticket;
    this.#route = route;
    this.#ratio = READING_VERBS.has(ticket.exchange.info.verb) ? ratios.readOnly : ratios.mutating;
    this.#clock = clock;
    const { samples, level } = route;
    const { startedMs } = ticket;
    this.#ratio.add(1, startedMs);
    samples.dispatched.inc();
    if (!level.exempt) samples.waited.observe((startedMs - ticket.arrivedMs) / 1000);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    const { samples, level } = this.#route;
    const { exchange, startedMs } = this.#ticket;
    const now = this.#clock.monotonic();
    this.#ratio.add(-1, now);
    (exchange.info.verb === "watch" ? samples.watchStarted : samples.executed).observe((now - startedMs) / 1000);
    level.queue.finish(this.#ticket, now);
  }
}

/** Not `async`: every request goes through here, and this is what costs the least. */
function executing(held: Held, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
  return next().then(
    (response) => {
      held.release();
      return response;
    },
    (error: unknown) => {
      held.release();
      throw error;
    },
  );
}

/** A watch has started when it has written what it starts with. */
async function starting(
  held: Held,
  { exchange: { info, request } }: Ticket,
  { watches }: FlowControlStepOptions,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    const response = await next();
    if (!isStream(response)) {
      held.release();
      return response;
    }
    const forget = watches.add(info, request.query);
    return withLife(response, {
      began: () => held.release(),
      ended: () => {
        held.release();
        forget();
      },
    });
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Whether it is executed in the end. */
function wait(
  ticket: Ticket,
  { level, samples }: Route,
  { clock, readWrite }: FlowControlStepOptions,
): Promise<boolean> {
  const { info, request } = ticket.exchange;
  const ratio = readWrite.waiting[READING_VERBS.has(info.verb) ? "readOnly" : "mutating"];
  ratio.add(1, ticket.arrivedMs);
  return new Promise((decided) => {
    let stay: (() => void) | undefined;
    ticket.decide = (goesOn) => {
      stay?.();
      const now = goesOn ? ticket.startedMs : clock.monotonic();
      ratio.add(-1, now);
      if (!goesOn) samples.waitedInVain.observe((now - ticket.arrivedMs) / 1000);
      decided(goesOn);
    };
    stay = whenGone(request, () => level.queue.cancel(ticket));
  });
}

function refuse({ level }: Route, clock: Clock): ApiResponse {
  return tooManyRequests(level.retryAfter.refused(clock.now()));
}

export function tooManyRequests(retryAfterSeconds: number): ApiResponse {
  return {
    status: 429,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "retry-after": String(retryAfterSeconds),
    },
    body: [Buffer.from("Too many requests, please try again later.\n")],
  };
}
