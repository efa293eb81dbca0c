/**
 * Ending work early, in terms of AbortSignal.
 *
 * 1. A child ends with its parent, for the same reason, and never the other way round.
 * 2. A child that is disposed of leaves nothing behind on its parent. (AbortSignal.any keeps an entry for each child that a
 *    long-lived parent ever had.)
 * 3. However many wait for one signal, coming and going costs each the same: they share one listener. (A signal walks through all its
 *    listeners whenever one is added or taken off.)
 */

import { Chain, Link } from "./chain.ts";

export interface ChildController extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Detaches from the parent; the signal stays as it is. */
  [Symbol.dispose](): void;
}

export function childController(parent?: AbortSignal): ChildController {
  const controller = new AbortController();
  const signal: WaitedFor = controller.signal;
  // Who waits for it is told from here: most children come and go with a request, and a listener would cost more than the rest of them.
  const calls = new Chain<Link<() => void>>();
  signal[WAITING] = { calls };
  const end = (reason: unknown) => {
    controller.abort(reason);
    signal[WAITING] = undefined;
    callAll(calls);
  };
  const detach = parent === undefined ? nothing : whenAborted(parent, () => end(parent.reason));
  return {
    signal,
    abort: (reason) => {
      detach();
      end(reason);
    },
    [Symbol.dispose]: detach,
  };
}

/** On the signal itself: most of them live for one request, and a map of so many would cost the collector more than they do. */
const WAITING = Symbol("waiting");

interface Waiting {
  readonly calls: Chain<Link<() => void>>;
  /** Absent where the signal's owner calls. */
  readonly listener?: () => void;
}

type WaitedFor = AbortSignal & { [WAITING]?: Waiting | undefined };

function nothing(): void {}

/** Calls once, at once if it is over already. What comes back takes the call off again. */
export function whenAborted(signal: WaitedFor, call: () => void): () => void {
  if (signal.aborted) {
    call();
    return nothing;
  }
  const { calls, listener } = signal[WAITING] ?? listen(signal);
  const link = new Link(call);
  calls.add(link);
  return () => {
    if (!calls.delete(link) || calls.size > 0 || listener === undefined) return;
    signal.removeEventListener("abort", listener);
    signal[WAITING] = undefined;
  };
}

function listen(signal: WaitedFor): Waiting {
  const calls = new Chain<Link<() => void>>();
  const listener = () => {
    signal[WAITING] = undefined;
    callAll(calls);
  };
  signal.addEventListener("abort", listener, { once: true });
  const waiting = { calls, listener };
  signal[WAITING] = waiting;
  return waiting;
}

/** Those who are called may take others off, or come again: only who is here now counts. */
function callAll(calls: Chain<Link<() => void>>): void {
  const all = [...calls];
  for (const link of all) calls.delete(link);
  for (const { value: call } of all) call();
}

/**
 * Waits for the promise or one of the signals, whichever comes first; in the second case rejects with the signal's reason. What
 * the promise comes to afterwards is dropped: use it where the result is of no use to anybody any more.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal, another?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = whenAborted(signal, () => reject(signal.reason));
    const leaveOther = another === undefined ? nothing : whenAborted(another, () => reject(another.reason));
    const detach = () => {
      leave();
      leaveOther();
    };
    promise.then(
      (value) => {
        detach();
        resolve(value);
      },
      (error: unknown) => {
        detach();
        reject(error);
      },
    );
  });
}

/**
 * Whether an error is only the echo of the signal: its reason, an error caused by its reason, or the AbortError that
 * platform calls throw in its stead. Always false while the signal has not aborted.
 */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  let link = error;
  for (let depth = 0; depth < 16; depth++) {
    if (link === signal.reason) return true;
    if (!(link instanceof Error)) return false;
    if (link.name === "AbortError") return true;
    link = link.cause;
  }
  return false;
}
