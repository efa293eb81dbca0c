/** A request at its level: what it needs, where it waits, since when it is executed. */
import { durationMs } from "#api";
import type { Chain, Linked } from "#base";
import type { Attributed } from "../pipeline/exchange.ts";
import type { FlowSamples } from "./metrics.ts";
import type { Queue } from "./queue.ts";
import type { Work } from "./work-estimate.ts";

/** A quarter of the time that requests have, or of what one has set itself. */
const WAIT_MS = 15_000;
const MAX_WAIT_MS = 60_000;

/** How it went at the level: it goes on, it waits, or it is refused. */
export type Entry = "execute" | "wait" | "queue-full" | "concurrency-limit";

export interface Flow {
  readonly schema: string;
  readonly samples: FlowSamples;
}

export class Ticket implements Linked<Ticket> {
  readonly flow: Flow;
  readonly distinguisher: string;
  readonly exchange: Attributed;
  work: Work;
  readonly arrivedMs: number;
  /** Seat-milliseconds of the level when it came. */
  arrivalR = 0;
  /** Negative: not yet. */
  startedMs = -1;
  queue: Queue | undefined;
  /** Where it is, and beside whom. */
  chain: Chain<Ticket> | undefined;
  before: Ticket | undefined;
  after: Ticket | undefined;
  #deadlineMs: number | undefined;
  /** Called once if it waits: whether it is executed now. */
  decide: ((execute: boolean) => void) | undefined;

  constructor(flow: Flow, distinguisher: string, exchange: Attributed, work: Work, arrivedMs: number) {
    this.flow = flow;
    this.distinguisher = distinguisher;
    this.exchange = exchange;
    this.work = work;
    this.arrivedMs = arrivedMs;
  }

  /** The seats that it holds from its start to its very end. */
  get width(): number {
    const { seats, finalSeats } = this.work;
    return seats > finalSeats ? seats : finalSeats;
  }

  /** When it is refused if it still waits. */
  get deadlineMs(): number {
    this.#deadlineMs ??= this.arrivedMs + waitMs(this.exchange);
    return this.#deadlineMs;
  }

  /** Until a request has shown how long it takes, it is taken to take this long. */
  static readonly GUESS_MS = 3;

  /** In seat-milliseconds. */
  get totalWork(): number {
    const { seats, finalSeats, finalMs } = this.work;
    return seats * Ticket.GUESS_MS + finalSeats * finalMs;
  }
}

function waitMs({ request: { query } }: Attributed): number {
  const asked = query.get("timeout");
  if (asked === null) return WAIT_MS;
  try {
    const own = durationMs(asked);
    return own > 0 ? Math.min(MAX_WAIT_MS, own / 4) : WAIT_MS;
  } catch {
    // The verb says what is wrong with it.
    return WAIT_MS;
  }
}
