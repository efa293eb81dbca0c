/** Quantities as numbers, exact enough for bars and sums; and back, for people. */
import { table } from "#base";

const POWERS: Readonly<Record<string, number>> = table({
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
});

export function quantity(text: string | number | undefined): number {
  const [, number = "", unit = ""] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text ?? "0")) ?? [];
  const value = Number(number) * (POWERS[unit] ?? Number.NaN);
  return Number.isFinite(value) ? value : 0;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  const scaled = value / 2 ** (10 * power);
  return `${scaled >= 10 || Number.isInteger(scaled) ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

export function cores(value: number): string {
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(value < 1 ? 2 : 1);
}
