/**
 * An amount over time, in steps: constants, or parts of what a container requests.
 *
 *     250m                    constant
 *     80%                     a part of the request
 *     0s=50m,1m=400m,5m=20%   each from a time on
 */
import { durationMs, parseQuantity, scaledValue } from "#api";

export interface Step {
  readonly fromMs: number;
  readonly amount: Amount;
}

export type Amount = { readonly milli: number } | { readonly percent: number };

/** In order of time. Before the first step the amount is zero. */
export type Curve = readonly Step[];

export const CURVE_FORM = "a quantity, a part of the request such as 80%, or steps such as 0s=50m,1m=400m";

/** Undefined, or an error of its parts, if it is not of this form. */
export function parseCurve(text: string): Curve | undefined {
  const steps = text.split(",").map((step): Step => {
    const [amount = "", from = "0s"] = step.split("=").reverse();
    return { fromMs: durationMs(from.trim()), amount: parseAmount(amount.trim()) };
  });
  return isOrdered(steps) ? steps : undefined;
}

export function parseAmount(text: string): Amount {
  if (text.endsWith("%")) return { percent: Number(text.slice(0, -1).trim() || Number.NaN) };
  return { milli: Number(scaledValue(parseQuantity(text), -3)) };
}

export function isOrdered(steps: Curve): boolean {
  const isAmount = (amount: Amount) => ("milli" in amount ? amount.milli >= 0 : amount.percent >= 0);
  return steps.every(({ fromMs, amount }, at) => isAmount(amount) && fromMs >= (steps[at - 1]?.fromMs ?? 0));
}

/** In thousandths. */
export function amountAt(curve: Curve, ms: number, requestedMilli: number): number {
  // A recording may have many steps.
  let [low, high] = [0, curve.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((curve[middle]?.fromMs ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  const amount = curve[low - 1]?.amount;
  if (amount === undefined) return 0;
  return "milli" in amount ? amount.milli : (amount.percent / 100) * requestedMilli;
}
