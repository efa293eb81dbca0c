/** The load of a day in thousandths of a CPU: little at night, most in the afternoon, smooth in between. */
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

const NIGHT = 150;
const PEAK = 1_700;
const PEAK_HOUR = 15;

export function dayOfLoad(sinceMidnightMs: number): number {
  const angle = ((sinceMidnightMs / HOUR_MS - PEAK_HOUR) / 24) * 2 * Math.PI;
  return NIGHT + ((PEAK - NIGHT) * (1 + Math.cos(angle))) / 2;
}
