/** Arithmetic of 64-bit integers: overflow is an error. */
import { CelError, Duration, type Outcome, Timestamp, Uint } from "./value.ts";

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const minTimestamp = -62_135_596_800n * 1_000_000_000n;
const maxTimestamp = 253_402_300_800n * 1_000_000_000n - 1n;

const intOverflow = new CelError("integer overflow");
const uintOverflow = new CelError("unsigned integer overflow");
const durationOverflow = new CelError("duration overflow");
const timestampOverflow = new CelError("timestamp overflow");

export function checkedInt(value: bigint): bigint | CelError {
  return value > maxInt || value < minInt ? intOverflow : value;
}

export function checkedUint(value: bigint): Outcome {
  return value > maxUint || value < 0n ? uintOverflow : new Uint(value);
}

/** From nanoseconds. */
export function checkedDuration(nanos: bigint): Outcome {
  return nanos > maxInt || nanos < minInt ? durationOverflow : new Duration(nanos);
}

export function checkedTimestamp(nanos: bigint, offsetMinutes = 0): Outcome {
  return nanos > maxTimestamp || nanos < minTimestamp ? timestampOverflow : new Timestamp(nanos, offsetMinutes);
}

/** Rounded towards zero. */
export function intFromDouble(value: number): Outcome {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return intOverflow;
  return BigInt(Math.trunc(value));
}

export function uintFromDouble(value: number): Outcome {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return uintOverflow;
  return new Uint(BigInt(Math.trunc(value)));
}

/** As Go's %g prints: the shortest digits that round-trip, with an exponent where it is below -4 or above 5. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return plain(value);
  const digits = `${Math.abs(power)}`.padStart(2, "0");
  return `${mantissa}e${power < 0 ? "-" : "+"}${digits}`;
}

/** Without an exponent. */
export function plain(value: number): string {
  const text = `${value}`;
  const found = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (found === null) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = found;
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${whole}${fraction}`;
  return sign + (whole + fraction).padEnd(whole.length + power, "0");
}
