/**
 * Faulty connections to an API server: watches that are late, repeat events and break off, and callers that die in the
 * middle of their work.
 */
import type { Clock, Random } from "#base";
import type { TestServer } from "../../apiserver/testing/index.ts";

type Handle = TestServer["handle"];
export type Request = Parameters<Handle>[0];
type Answer = Awaited<ReturnType<Handle>>;
type Sink = Parameters<Extract<Answer, { stream: unknown }>["stream"]>[0];

export interface WatchFaults {
  readonly clock: Clock;
  readonly random: Random;
  /** Probability that a watch breaks off instead of delivering an event. */
  readonly breaks: number;
  /** Probability that an event is delivered twice. */
  readonly repeats: number;
  /** The longest delay of events: in order on one watch, in any order across watches. */
  readonly lateMs: number;
}

/** The same server with unreliable watches: events are true, but their time, number and order across resources vary. */
export function faultyWatches(handle: Handle, faults: WatchFaults): Handle {
  return async (request) => {
    const answer = await handle(request);
    if (!("stream" in answer)) return answer;
    const lists = request.query.get("sendInitialEvents") === "true";
    return { ...answer, stream: (sink) => faultyStream(answer.stream.bind(answer), sink, faults, lists) };
  };
}

async function faultyStream(
  stream: (sink: Sink) => Promise<void>,
  sink: Sink,
  { clock, random, breaks, repeats, lateMs }: WatchFaults,
  lists: boolean,
): Promise<void> {
  // A broken list starts again: a long one would never finish.
  let listing = lists;
  const broken = new AbortController();
  const signal = AbortSignal.any([sink.signal, broken.signal]);
  const timers = new Set<{ cancel(): void }>();
  let dueMs = clock.monotonic();
  const tell = (deliver: () => void) => {
    if (signal.aborted) return 0;
    if (random.next() < (listing ? breaks / 50 : breaks)) {
      broken.abort(new Error("the watch broke off"));
      return 0;
    }
    const times = random.next() < repeats ? 2 : 1;
    dueMs = Math.max(dueMs, clock.monotonic() + random.integer(lateMs + 1));
    const timer = clock.timer(dueMs - clock.monotonic(), () => {
      timers.delete(timer);
      for (let i = 0; i < times && !signal.aborted; i++) deliver();
    });
    timers.add(timer);
    return 0;
  };
  const { event } = sink;
  const meddled: Sink = {
    signal,
    drop: () => sink.drop(),
    write: (bytes) => tell(() => sink.write(bytes)),
    ...(event !== undefined && {
      event: (type, object) => {
        if (type === "BOOKMARK") listing = false;
        return tell(() => event(type, object));
      },
    }),
  };
  const left = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    await Promise.race([stream(meddled), left]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const timer of timers) timer.cancel();
  }
}

export type Death = "before it reaches the server" | "before it is answered";

/** Whether a request is a write that matters. Writes of Events do not. */
export function isWork({ method, path }: Request): boolean {
  return method !== "GET" && !path.endsWith("/events");
}

/** A caller that dies at one of its writes: it gets no more answers until it is buried. */
export class Mortal {
  dead = false;
  readonly handle: Handle;
  readonly #buried = new AbortController();

  constructor(handle: Handle, diesAt: (write: Request) => Promise<boolean>, death: Death) {
    this.handle = async (request) => {
      const dies = !this.dead && isWork(request) && (await diesAt(request));
      // Another write may have killed it meanwhile.
      if (this.dead) return this.#never(request);
      this.dead = dies;
      if (dies && death === "before it reaches the server") return this.#never(request);
      const answer = await handle(request);
      return this.dead && !("stream" in answer) ? this.#never(request) : answer;
    };
  }

  /** Fails its pending requests, so that it can end. */
  bury(): void {
    this.#buried.abort(new Error("there is no connection any more"));
  }

  #never(request: Request): Promise<never> {
    const signal = AbortSignal.any([request.signal, this.#buried.signal]);
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}
