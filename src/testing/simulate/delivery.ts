/**
 * One watch: its events on their way to the watcher, in order, each with its own delay.
 *
 * 1. The state with which a watch begins arrives as one.
 * 2. A silent watch keeps its events. One that is broken off loses them: its client goes on from the last one that it got.
 */
import type { Timer } from "#base";
import type { ApiResponse } from "../../apiserver/http/exchange.ts";
import type { SimulationClock } from "./simulation-clock.ts";

type Sink = Parameters<Extract<ApiResponse, { stream: unknown }>["stream"]>[0];

/** How often a silent watch looks whether it may go on. */
const SILENT_MS = 1_000;

export interface DeliveryOptions {
  readonly clock: SimulationClock;
  readonly sink: Sink;
  /** It begins with the current state. */
  readonly lists: boolean;
  /** The names that mean its watcher. */
  readonly whom: readonly string[];
  readonly delayMs: () => number;
  readonly isSilent: () => boolean;
  /** An object has arrived, be it news or the state at the beginning. */
  readonly arrived: (object: object) => void;
  readonly delivered: (type: string, object: object) => void;
}

interface Waiting {
  readonly dueMs: number;
  readonly deliver: () => void;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #broken = new AbortController();
  readonly #waiting: Waiting[] = [];
  #timer: Timer | undefined;
  #lastMs = 0;
  /** The state with which the watch begins is still coming in. */
  #isListing: boolean;
  #drained: (() => void) | undefined;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#isListing = options.lists;
  }

  concerns(whom: string): boolean {
    return this.#options.whom.includes(whom);
  }

  break(): void {
    this.#broken.abort(new Error("the connection broke"));
  }

  /** Until the watch ends and everything has arrived, or nobody waits for it any more. */
  async run(stream: (sink: Sink) => Promise<void>): Promise<void> {
    const { sink } = this.#options;
    const signal = AbortSignal.any([sink.signal, this.#broken.signal]);
    const left = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const { event } = sink;
    const meddled: Sink = {
      signal,
      drop: () => sink.drop(),
      write: (bytes) => this.#take("BYTES", undefined, () => sink.write(bytes)),
      ...(event !== undefined && {
        event: (type: string, object: object) => this.#take(type, object, () => event.call(sink, type, object)),
      }),
    };
    try {
      await Promise.race([stream(meddled), left]);
      if (!signal.aborted && this.#waiting.length > 0)
        await Promise.race([new Promise<void>((resolve) => (this.#drained = resolve)), left]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#timer?.cancel();
      this.#waiting.length = 0;
    }
  }

  #take(type: string, object: object | undefined, deliver: () => void): number {
    if (this.#broken.signal.aborted) return 0;
    const { clock, delayMs, arrived, delivered } = this.#options;
    const say = () => {
      if (object !== undefined) arrived(object);
      if (object !== undefined && type !== "BOOKMARK" && !this.#isListing) delivered(type, object);
      deliver();
    };
    const isBookmark = type === "BOOKMARK";
    if (this.#isListing || (isBookmark && this.#waiting.length === 0)) {
      say();
      // The first bookmark ends the list.
      if (isBookmark) this.#isListing = false;
      return 0;
    }
    this.#lastMs = Math.max(this.#lastMs, clock.monotonic() + delayMs());
    this.#waiting.push({ dueMs: this.#lastMs, deliver: say });
    if (this.#waiting.length === 1) this.#schedule();
    return 0;
  }

  #schedule(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#drained?.();
      return;
    }
    const { clock, isSilent } = this.#options;
    this.#timer = clock.timer(first.dueMs - clock.monotonic(), () => {
      if (isSilent()) {
        this.#lastMs = Math.max(this.#lastMs, clock.monotonic() + SILENT_MS);
        this.#waiting[0] = { ...first, dueMs: clock.monotonic() + SILENT_MS };
      } else {
        this.#waiting.shift();
        first.deliver();
      }
      this.#schedule();
    });
  }
}
