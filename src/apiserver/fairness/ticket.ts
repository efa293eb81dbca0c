/** A request at its level: what it needs, where it waits, since when it is executed. */
import { durationMs } from "#api";
import type { Chain, Linked } from "#base";
import type { Attributed } from "../pipeline/exchange.ts";
import type { SchemaSamples } from "./measures/metrics.ts";
import type { Queue } from "./queue.ts";
import type { Work } from "./work-estimate.ts";

/** A quarter of the usual timeout; requests that set a timeout wait a quarter of that. */
const WAIT_MS = 15_000;
const MAX_WAIT_MS = 60_000;

/** What becomes of a request that enters its level: it goes on, waits, or is refused. */
export type Entry = "execute" | "wait" | "queue-full" | "concurrency-limit";

/** The FlowSchema by which a request was classified. */
export interface Schema {
  readonly name: string;
  readonly samples: SchemaSamples;
}

export class Ticket<S extends Schema = Schema> implements Linked<Ticket> {
  readonly schema: S;
  /** Requests with the same schema and distinguisher are one flow. */
  readonly distinguisher: string;
  readonly exchange: Attributed;
  work: Work;
  readonly arrivedMs: number;
  /** The level's progress meter when the request arrived. */
  arrivalR = 0;
  /** Negative: not yet. */
  startedMs = -1;
  queue: Queue | undefined;
  /** For the chain that it is in. */
  chain: Chain<Ticket> | undefined;
  before: Ticket | undefined;
  after: Ticket | undefined;
  /** When the request is refused if it still waits. Set when it starts to wait. */
  deadlineMs = Number.POSITIVE_INFINITY;
  /** Called once if the request waits: whether it is executed now. */
  decide: ((execute: boolean) => void) | undefined;

  constructor(schema: S, distinguisher: string, exchange: Attributed, work: Work, arrivedMs: number) {
    this.schema = schema;
    this.distinguisher = distinguisher;
    this.exchange = exchange;
    this.work = work;
    this.arrivedMs = arrivedMs;
  }

  /** The seats that the request holds from its start until its last seat is free. */
  get width(): number {
    const { seats, finalSeats } = this.work;
    return seats > finalSeats ? seats : finalSeats;
  }

  /** How long a request is assumed to take until it has ended. */
  static readonly ESTIMATE_MS = 3;

  /** In seat-milliseconds. */
  get totalWork(): number {
    const { seats, finalSeats, finalMs } = this.work;
    return seats * Ticket.ESTIMATE_MS + finalSeats * finalMs;
  }
}

/** How long a request may wait. */
export function waitMs({ request: { query } }: Attributed): number {
  const asked = query.get("timeout");
  if (asked === null) return WAIT_MS;
  try {
    const own = durationMs(asked);
    return own > 0 ? Math.min(MAX_WAIT_MS, own / 4) : WAIT_MS;
  } catch {
    // The verb reports what is wrong with it.
    return WAIT_MS;
  }
}
