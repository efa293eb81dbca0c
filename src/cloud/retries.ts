/** When a failed call to the cloud is tried again, by key: after 5 s, 10 s, 20 s … 5 minutes, as in Kubernetes. */
import { KeyedBackoff, type Random } from "#base";
import { CloudError } from "./cloud.ts";

const BACKOFF = { initialMs: 5_000, maxMs: 300_000, jitter: 0.1 } as const;

export class Retries {
  readonly #backoff: KeyedBackoff<string>;

  constructor(random: Random) {
    this.#backoff = new KeyedBackoff(BACKOFF, random);
  }

  /** Counts a failure and says how long to wait: as long as the provider asks for, if it does. */
  afterMs(key: string, error: unknown): number {
    const ownMs = this.#backoff.next(key);
    return error instanceof CloudError && error.retryAfterMs !== undefined ? error.retryAfterMs : ownMs;
  }

  succeeded(key: string): void {
    this.#backoff.forget(key);
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
