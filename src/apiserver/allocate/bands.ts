/**
 * The search for a free place of a range. As in Kubernetes, a range has a lower band, which is left to Services that
 * name an address or port, and an upper band.
 *
 * 1. The search starts at a random place, so that servers that share a store seldom try the same one.
 * 2. The lower band is used only when the upper one is full.
 */
import type { Random } from "#base";

export interface BandRule {
  readonly min: number;
  readonly max: number;
  /** The lower band is one `step`th of the range. */
  readonly step: number;
}

export const addressBands: BandRule = { min: 16, max: 256, step: 16 };
export const portBands: BandRule = { min: 16, max: 128, step: 32 };

/** The number of places in the lower band: 0 in a range that is too small for two bands. */
export function lowerBand(size: number, { min, max, step }: BandRule): number {
  return size <= min ? 0 : Math.min(max, Math.max(min, Math.floor(size / step)));
}

/** Every place from `first` to `last`, both included, in the order of the search. */
export function* places(first: number, last: number, upper: number, random: Random): Generator<number> {
  const start = Math.min(Math.max(first, upper), last + 1);
  yield* around(start, last, random);
  yield* around(first, start - 1, random);
}

function* around(first: number, last: number, random: Random): Generator<number> {
  const size = last - first + 1;
  if (size <= 0) return;
  const start = random.integer(size);
  for (let i = 0; i < size; i++) yield first + ((start + i) % size);
}
