/**
 * CPU rates from cumulative usage at two points in time.
 *
 * 1. The older point is the last measurement, unless that is too recent or too old.
 * 2. A counter that has decreased belongs to something new: there is no rate yet.
 */

export interface Sample {
  readonly atMs: number;
  readonly nanoSeconds: number;
}

const CLOSEST_MS = 400;
const OLDEST_MS = 60_000;

export class CpuRates {
  #older = new Map<string, Sample>();
  #rates = new Map<string, number>();

  /** Whether there is a rate for this name at this time. */
  isKnown(name: string, nowMs: number): boolean {
    const older = this.#older.get(name);
    return older !== undefined && nowMs - older.atMs <= OLDEST_MS;
  }

  /** Adds a measurement of everything; names that are missing are forgotten. */
  take(samples: ReadonlyMap<string, Sample>): void {
    const [older, rates] = [new Map<string, Sample>(), new Map<string, number>()];
    for (const [name, sample] of samples) {
      const before = this.#older.get(name);
      const tookMs = before === undefined ? 0 : sample.atMs - before.atMs;
      const isUsable = before !== undefined && tookMs >= CLOSEST_MS && tookMs <= OLDEST_MS;
      const grown = isUsable && sample.nanoSeconds >= before.nanoSeconds;
      const rate = grown ? ((sample.nanoSeconds - before.nanoSeconds) * 1000) / tookMs : undefined;
      const kept = rate ?? (tookMs < CLOSEST_MS ? this.#rates.get(name) : undefined);
      if (kept !== undefined) rates.set(name, kept);
      older.set(name, before !== undefined && tookMs < CLOSEST_MS ? before : sample);
    }
    this.#older = older;
    this.#rates = rates;
  }

  /** Nanoseconds of CPU time per second: 1e9 is one core. */
  nanoCores(name: string): number | undefined {
    const rate = this.#rates.get(name);
    return rate === undefined ? undefined : Math.round(rate);
  }
}
