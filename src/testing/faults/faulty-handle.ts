/**
 * Faulty connections to an API server: watches that are late, repeat events and break off, and callers that die in the
 * middle of their work.
 */
import type { Clock, Random } from "#base";

import type { ApiResponse, Handle, ApiRequest as Request } from "../../apiserver/http/exchange.ts";

export type { ApiRequest as Request, Handle } from "../../apiserver/http/exchange.ts";

type Sink = Parameters<Extract<ApiResponse, { stream: unknown }>["stream"]>[0];

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
  // Timers of a real clock may change places within a millisecond: each delivers what is next, not its own event.
  const waiting: (() => void)[] = [];
  const tell = (deliver: () => void) => {
    if (signal.aborted) return 0;
    if (random.next() < (listing ? breaks / 50 : breaks)) {
      broken.abort(new Error("the watch broke off"));
      return 0;
    }
    const times = random.next() < repeats ? 2 : 1;
    dueMs = Math.max(dueMs, clock.monotonic() + random.integer(lateMs + 1));
    waiting.push(() => {
      for (let i = 0; i < times && !signal.aborted; i++) deliver();
    });
    const timer = clock.timer(dueMs - clock.monotonic(), () => {
      timers.delete(timer);
      waiting.shift()?.();
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

/** The same server; the events of watches on paths that end with `path` are late by this time. */
export function lateWatches(
  handle: Handle,
  { clock, path, ms }: { readonly clock: Clock; readonly path: string; readonly ms: () => number },
): Handle {
  return async (request) => {
    const answer = await handle(request);
    if (!("stream" in answer) || !request.path.endsWith(path)) return answer;
    const stream = (sink: Sink) => {
      const { event } = sink;
      const late = (deliver: () => void) => {
        if (ms() === 0) deliver();
        else clock.timer(ms(), deliver);
        return 0;
      };
      return answer.stream({
        ...plain(sink),
        signal: sink.signal,
        write: (bytes) => late(() => sink.write(bytes)),
        ...(event !== undefined && {
          event: (type: string, object: object) => late(() => event.call(sink, type, object)),
        }),
      });
    };
    return { ...answer, stream };
  };
}

/** The same server; each watch is handed to `opened` with a function that breaks it off. */
export function closableWatches(handle: Handle, opened: (close: () => void, request: Request) => () => void): Handle {
  return async (request) => {
    const answer = await handle(request);
    if (!("stream" in answer)) return answer;
    const stream = async (sink: Sink) => {
      const broken = new AbortController();
      const over = opened(() => broken.abort(new Error("the watch broke off")), request);
      try {
        await answer.stream({ ...sink, ...plain(sink), signal: AbortSignal.any([sink.signal, broken.signal]) });
      } catch (error) {
        if (!broken.signal.aborted) throw error;
      } finally {
        over();
      }
    };
    return { ...answer, stream };
  };
}

/** The functions of a sink that is no plain object. */
function plain(sink: Sink): Omit<Sink, "signal"> {
  const { event } = sink;
  return {
    write: (bytes) => sink.write(bytes),
    drop: () => sink.drop(),
    ...(event !== undefined && { event: (type, object) => event(type, object) }),
  };
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

  constructor(handle: Handle, diesAt: (write: Request) => Death | undefined | Promise<Death | undefined>) {
    this.handle = async (request) => {
      const death = !this.dead && isWork(request) ? await diesAt(request) : undefined;
      // Another write may have killed it meanwhile.
      if (this.dead) return this.#never(request);
      this.dead = death !== undefined;
      if (death === "before it reaches the server") return this.#never(request);
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
