/**
 * API priority and fairness as a step of the pipeline.
 *
 *     request ──► classify ──► estimate ──► enter its level ──► next ──► finish
 *                                              └──► wait ──► next, or 429
 *
 * 1. A request that finds seats free goes on in the same turn: nothing is waited for, no timer is set. One that is answered in the call in which it came leaves
 *    nothing behind but what it has cost: while it was there, nobody else could be.
 * 2. A watch holds its seats until it has started; other requests that last as long as they like hold none.
 * 3. Whoever waits and leaves, or waits for too long, frees the place.
 */
import { type Clock, isPending, lastly } from "#base";
import { type Answering, type ApiResponse, isStream, whenGone } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import { withLife } from "../http/stream-life.ts";
import { isReading } from "../http/verbs.ts";
import type { Next, Step } from "../pipeline/compose.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import type { Configuration, Route } from "./configuration.ts";
import { Ticket } from "./ticket.ts";
import type { TimedRatio } from "./timed-ratio.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { ONE_SEAT, type Work, type WorkEstimator } from "./work-estimate.ts";

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

export function flowControlStep(options: FlowControlStepOptions): Step<Attributed> {
  const { configuration, estimator, clock } = options;

  return (exchange, next) => {
    const { info, user, request } = exchange;
    if (info.verb !== "watch" && isLongRunning(info)) return next(exchange);
    const route = configuration.classify(user, info);
    const { level, definition, samples } = route;
    exchange.shared = route.headers;
    const work = level.exempt ? ONE_SEAT : estimator.estimate(info, request.query, level.widest, samples.watches);
    const distinguisher = level.queuing.type === "queue" ? definition.distinguisher(user, info) : "";
    const arrivedMs = clock.monotonic();
    if (work === ONE_SEAT && info.verb !== "watch" && level.queue.letsPass(route, distinguisher, arrivedMs))
      return pass(route, distinguisher, arrivedMs, exchange, next, options);
    const held = new HeldTicket(route, distinguisher, exchange, work, arrivedMs, options);
    const entry = level.queue.enter(held, route.hand(distinguisher));
    samples.seats.observe(held.width);
    if (entry === "execute") {
      held.dispatched();
      return execute(held, options, next);
    }
    if (entry === "wait") {
      return wait(held, route, options).then((goesOn) => {
        if (!goesOn) return refuse(route, clock);
        held.dispatched();
        return execute(held, options, next);
      });
    }
    if (!level.exempt) samples.waitedInVain.observe(0);
    return refuse(route, clock);
  };
}

/** What a request occupies from its start on, until it lets go. */
class HeldTicket extends Ticket {
  readonly #route: Route;
  readonly #options: FlowControlStepOptions;
  #isReleased = false;

  constructor(
    route: Route,
    distinguisher: string,
    exchange: Attributed,
    work: Work,
    arrivedMs: number,
    options: FlowControlStepOptions,
  ) {
    super(route, distinguisher, exchange, work, arrivedMs);
    this.#route = route;
    this.#options = options;
  }

  occupy(): void {
    executing(this.exchange, this.#options).add(1, this.startedMs);
    this.exchange.held = this;
  }

  dispatched(): void {
    const { samples, level } = this.#route;
    samples.dispatched.inc();
    if (!level.exempt) samples.waited.observe((this.startedMs - this.arrivedMs) / 1000);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { samples, level } = this.#route;
    const { exchange } = this;
    const now = this.#options.clock.monotonic();
    executing(exchange, this.#options).add(-1, now);
    const seconds = (now - this.startedMs) / 1000;
    if (exchange.info.verb === "watch") samples.watchStarted.observe(seconds);
    else samples.usual.executed(seconds);
    level.queue.finish(this, now);
  }
}

function executing({ info }: Attributed, { readWrite }: FlowControlStepOptions): TimedRatio {
  const { readOnly, mutating } = readWrite.executing;
  return isReading(info.verb) ? readOnly : mutating;
}

/** With one seat, which is free: it is held only if the answer is waited for. */
function pass(
  route: Route,
  distinguisher: string,
  arrivedMs: number,
  exchange: Attributed,
  next: Next<Attributed>,
  options: FlowControlStepOptions,
): Answering {
  route.samples.usual.started();
  let answering: Answering;
  try {
    answering = next(exchange);
  } catch (error) {
    passed(route, distinguisher, arrivedMs, exchange, options);
    throw error;
  }
  if (!isPending(answering) || exchange.isElsewhere) {
    passed(route, distinguisher, arrivedMs, exchange, options);
    return answering;
  }
  const held = new HeldTicket(route, distinguisher, exchange, ONE_SEAT, arrivedMs, options);
  route.level.queue.hold(held, route.hand(distinguisher));
  held.occupy();
  return lastly(
    () => answering,
    () => held.release(),
  );
}

function passed(
  route: Route,
  distinguisher: string,
  arrivedMs: number,
  exchange: Attributed,
  options: FlowControlStepOptions,
): void {
  const now = options.clock.monotonic();
  executing(exchange, options).during(arrivedMs, now);
  route.samples.usual.executed((now - arrivedMs) / 1000);
  const { queue } = route.level;
  if (!queue.passedAlone(arrivedMs, now)) queue.passed(route.hand(distinguisher), arrivedMs, now);
}

/** Nothing is left to release when it returns an answer, but of watches. */
function execute(held: HeldTicket, options: FlowControlStepOptions, next: Next<Attributed>): Answering {
  const { exchange } = held;
  held.occupy();
  if (exchange.info.verb === "watch") return starting(held, options, next);
  return lastly(
    () => next(exchange),
    () => held.release(),
  );
}

/** A watch has started when it has written what it starts with. */
async function starting(
  held: HeldTicket,
  { watches }: FlowControlStepOptions,
  next: Next<Attributed>,
): Promise<ApiResponse> {
  const { exchange } = held;
  const { info, request } = exchange;
  try {
    const response = await next(exchange);
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
  const ratio = readWrite.waiting[isReading(info.verb) ? "readOnly" : "mutating"];
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
