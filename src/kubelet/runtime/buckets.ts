/** Upper bounds of histograms of seconds, as upstream has them. */

export const SECONDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Each `factor` times the one before. */
export function exponential(start: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Number((start * factor ** i).toPrecision(12)));
}
