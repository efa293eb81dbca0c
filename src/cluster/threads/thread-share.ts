/** What a server that is one of several threads knows of that. */
import type { FairnessSettings, ServingThread } from "#apiserver";
import type { Recorder } from "#flows";

export interface ThreadShare {
  readonly thread: ServingThread;
  /** Among how many threads the limits of the server are divided. */
  readonly count: number;
  /** When the process started. */
  readonly startedMs: number;
  /** Passes what it records on to the first thread. Absent: this is the first. */
  readonly recorder?: Recorder | undefined;
  /** Stops the other threads, while this one's server stops. Absent: this is another. */
  readonly stopOthers?: ((ownStop: Promise<void>) => Promise<void>) | undefined;
}

/** The limits are those of the server: each thread has its part of them. 0 is no limit. */
export function shareOfLimits(limits: FairnessSettings | undefined, count = 1): FairnessSettings | undefined {
  if (count === 1) return limits;
  const { reading = 400, mutating = 200 } = limits ?? {};
  return { ...limits, reading: Math.ceil(reading / count), mutating: Math.ceil(mutating / count) };
}
