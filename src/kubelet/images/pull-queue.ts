/**
 * How many images are pulled at a time, and how many pulls begin in a second.
 *
 * 1. Pulls that wait begin in their order. One whose caller gives up leaves the queue.
 * 2. Above the rate a pull fails at once, as in Kubernetes: its back-off spreads the rest.
 */
import { abortable, type Clock, TokenBucket } from "#base";

export interface PullLimits {
  /** One after another. */
  readonly serialize: boolean;
  /** Undefined: any number, unless they are serialized. */
  readonly maxParallel?: number | undefined;
  /** Begun pulls in a second. 0: any number. */
  readonly qps: number;
  readonly burst: number;
}

export interface PullQueue {
  /** Throws if too many have begun. */
  run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function pullQueue({ serialize, maxParallel, qps, burst }: PullLimits, clock: Clock): PullQueue {
  const places = serialize ? 1 : (maxParallel ?? Number.POSITIVE_INFINITY);
  const waiting: (() => void)[] = [];
  let running = 0;
  const begun = new TokenBucket({ perSecond: qps, burst }, clock);

  const accept = () => {
    if (qps > 0 && !begun.take()) throw new Error("pull QPS exceeded");
  };
  const enter = async (signal: AbortSignal) => {
    if (running < places) {
      running++;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    try {
      await abortable(promise, signal);
    } catch (error) {
      const at = waiting.indexOf(resolve);
      // Its turn had come already: the next one takes it.
      if (at < 0) leave();
      else waiting.splice(at, 1);
      throw error;
    }
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };

  return {
    async run(pull, signal) {
      await enter(signal);
      try {
        accept();
        return await pull();
      } finally {
        leave();
      }
    },
  };
}
