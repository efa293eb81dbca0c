/**
 * API priority and fairness as a step of the pipeline.
 *
 *     request ──► classify ──► estimate ──► enter its level ──► next ──► finish
 *                                              └──► wait ──► next, or 429
 *
 * 1. A request that finds seats free goes on in the same turn of the event loop, without a timer.
 * 2. A watch holds its seats until it has started; other long-running requests hold none.
 * 3. A request that waits leaves its queue when its caller disconnects, or after its deadline.
 */
import { type Clock, lastly } from "#base";
import { type Answering, type ApiResponse, isStream, whenGone } from "../http/exchange.ts";
import { isLongRunning } from "../http/long-running.ts";
import { withLife } from "../http/stream-life.ts";
import { isReading } from "../http/verbs.ts";
import type { Next, Step } from "../pipeline/compose.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import type { Configuration, Route } from "./configuration.ts";
import type { TimedRatio } from "./measures/timed-ratio.ts";
import { Ticket } from "./ticket.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { ONE_SEAT, type Work, type WorkEstimator } from "./work-estimate.ts";

export interface FairnessStepOptions {
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

export function fairnessStep(options: FairnessStepOptions): Step<Attributed> {
  const { configuration, estimator, clock } = options;

  return (exchange, next) => {
    const { info, user, request } = exchange;
    if (info.verb !== "watch" && isLongRunning(info)) return next(exchange);
    const route = configuration.classify(user, info);
    const { level, definition, samples } = route;
    Object.assign(exchange.headers, route.headers);
    const work = level.exempt ? ONE_SEAT : estimator.estimate(info, request.query, level.widest, samples.watches);
    const distinguisher = level.queuing.type === "queue" ? definition.distinguisher(user, info) : "";
    const held = new HeldTicket(route, distinguisher, exchange, work, clock.monotonic(), options);
    const entry = level.queue.enter(held, route.hand(distinguisher));
    samples.seats.observe(held.width);
    if (entry === "execute") return execute(held, next);
    if (entry === "wait")
      return wait(held, options).then((goesOn) => (goesOn ? execute(held, next) : refuse(route, clock)));
    if (!level.exempt) samples.waitedInVain.observe(0);
    return refuse(route, clock);
  };
}

/** A request with its seats, from its arrival until it releases them. */
class HeldTicket extends Ticket<Route> {
  readonly options: FairnessStepOptions;

  constructor(
    route: Route,
    distinguisher: string,
    exchange: Attributed,
    work: Work,
    arrivedMs: number,
    options: FairnessStepOptions,
  ) {
    super(route, distinguisher, exchange, work, arrivedMs);
    this.options = options;
  }

  /** The request starts. */
  started(): void {
    const { schema, exchange, startedMs } = this;
    const { samples, level } = schema;
    samples.dispatched.inc();
    if (!level.exempt) samples.waited.observe((startedMs - this.arrivedMs) / 1000);
    this.#executing.add(1, startedMs);
    exchange.held = this;
  }

  release(): void {
    const { schema, exchange, options } = this;
    if (exchange.held !== this) return;
    exchange.held = undefined;
    const { samples, level } = schema;
    const now = options.clock.monotonic();
    this.#executing.add(-1, now);
    const sample = exchange.info.verb === "watch" ? samples.watchStarted : samples.executed;
    sample.observe((now - this.startedMs) / 1000);
    level.queue.finish(this, now);
  }

  get #executing(): TimedRatio {
    const { readOnly, mutating } = this.options.readWrite.executing;
    return isReading(this.exchange.info.verb) ? readOnly : mutating;
  }
}

function execute(held: HeldTicket, next: Next<Attributed>): Answering {
  const { exchange } = held;
  held.started();
  if (exchange.info.verb === "watch") return startWatch(held, next);
  return lastly(
    () => next(exchange),
    () => held.release(),
  );
}

/** A watch has started when it has sent its initial events. */
async function startWatch(held: HeldTicket, next: Next<Attributed>): Promise<ApiResponse> {
  const { exchange } = held;
  const { info, request } = exchange;
  try {
    const response = await next(exchange);
    if (!isStream(response)) {
      held.release();
      return response;
    }
    const forget = held.options.watches.add(info, request.query);
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

/** Whether the request is executed in the end. */
function wait(ticket: HeldTicket, { clock, readWrite }: FairnessStepOptions): Promise<boolean> {
  const { info, request } = ticket.exchange;
  const { level, samples } = ticket.schema;
  const ratio = readWrite.waiting[isReading(info.verb) ? "readOnly" : "mutating"];
  ratio.add(1, ticket.arrivedMs);
  return new Promise((decided) => {
    let stay: (() => void) | undefined;
    ticket.decide = (goesOn) => {
      stay?.();
      const now = goesOn ? ticket.startedMs : clock.monotonic();
      ticket.exchange.waitedMs += now - ticket.arrivedMs;
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
