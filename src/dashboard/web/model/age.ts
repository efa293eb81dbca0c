/** Durations as kubectl writes them: two units where the first is small. */
const UNITS = [
  ["y", 365 * 86_400],
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const;

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  const unit = UNITS[at];
  if (unit === undefined) return "0s";
  const count = Math.floor(seconds / unit[1]);
  const smaller = UNITS[at + 1];
  if (smaller === undefined || count >= 10) return `${count}${unit[0]}`;
  const rest = Math.floor((seconds % unit[1]) / smaller[1]);
  return rest === 0 ? `${count}${unit[0]}` : `${count}${unit[0]}${rest}${smaller[0]}`;
}

export function age(timestamp: string | undefined, now: number): string {
  return timestamp === undefined ? "" : duration(now - Date.parse(timestamp));
}
