/**
 * Ending work early, in terms of AbortSignal.
 *
 * 1. A child ends with its parent, for the same reason, and never the other way round.
 * 2. A child that is disposed of leaves nothing behind on its parent. (AbortSignal.any keeps an entry for each child that a
 *    long-lived parent ever had.)
 */

export interface ChildController extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Detaches from the parent; the signal stays as it is. */
  [Symbol.dispose](): void;
}

export function childController(parent?: AbortSignal): ChildController {
  const controller = new AbortController();
  const detach = () => parent?.removeEventListener("abort", follow);
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  else parent?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => {
      detach();
      controller.abort(reason);
    },
    [Symbol.dispose]: detach,
  };
}

/**
 * Waits for the promise or the signal, whichever comes first; in the second case rejects with the signal's reason. What
 * the promise comes to afterwards is dropped: use it where the result is of no use to anybody any more.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    const detach = () => signal.removeEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
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
