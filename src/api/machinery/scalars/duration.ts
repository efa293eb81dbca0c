/** Go durations: `1h30m`, `1.5s`, `-2ms`. Exact nanoseconds, within 64 bits. */
import { goQuote } from "../json/go-text.ts";

const units = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const;
const part = /(\d*)(\.(\d*))?([^\d.]*)/y;
const limit = 2n ** 63n;
const MAX_FRACTION = 18;

export class DurationError extends Error {
  override readonly name = "DurationError";
}

/** Nanoseconds. */
export function parseDuration(text: string): bigint {
  const fail = (why: string): never => {
    throw new DurationError(`time: ${why}`);
  };
  const sign = /^[+-]/.exec(text)?.[0] ?? "";
  const rest = text.slice(sign.length);
  if (rest === "0") return 0n;
  if (rest === "") return fail(`invalid duration ${goQuote(text)}`);
  let total = 0n;
  part.lastIndex = 0;
  while (part.lastIndex < rest.length) {
    const [, whole = "", point, fraction = "", unit = ""] = part.exec(rest) ?? [];
    if (whole === "" && fraction === "") return fail(`invalid duration ${goQuote(text)}`);
    if (unit === "") return fail(`missing unit in duration ${goQuote(text)}`);
    if (!Object.hasOwn(units, unit)) return fail(`unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
    const size = units[unit as keyof typeof units];
    total += BigInt(whole || "0") * size;
    // Digits beyond the nanoseconds of an hour count for nothing.
    const counted = fraction.slice(0, MAX_FRACTION);
    if (point !== undefined && counted !== "") total += (BigInt(counted) * size) / 10n ** BigInt(counted.length);
    if (total > limit) return fail(`invalid duration ${goQuote(text)}`);
  }
  if (total === limit && sign !== "-") return fail(`invalid duration ${goQuote(text)}`);
  return sign === "-" ? -total : total;
}

export function formatMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)));
}

export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (total < units.us) return `${sign}${total}ns`;
  if (total < units.ms) return `${sign}${decimal(total, units.us)}µs`;
  if (total < units.s) return `${sign}${decimal(total, units.ms)}ms`;
  const hours = total / units.h;
  const minutes = (total / units.m) % 60n;
  const seconds = decimal(total % units.m, units.s);
  return `${sign}${hours > 0n ? `${hours}h` : ""}${hours > 0n || minutes > 0n ? `${minutes}m` : ""}${seconds}s`;
}

export function durationMs(text: string): number {
  return Number(parseDuration(text)) / 1e6;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = value % unit;
  if (fraction === 0n) return `${value / unit}`;
  const digits = `${fraction}`.padStart(`${unit}`.length - 1, "0").replace(/0+$/, "");
  return `${value / unit}.${digits}`;
}
