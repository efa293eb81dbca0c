/** A number or a percentage: `5` or `25%`. */
import { goQuote } from "../json/go-text.ts";
import type { Json } from "../json/json.ts";

export type IntOrString = number | string;

export class IntOrStringError extends Error {
  override readonly name = "IntOrStringError";
}

/** A percentage is taken of `total`. */
export function scaledIntOrString(value: IntOrString, total: number, rounding: "up" | "down"): number {
  if (typeof value === "number") return value;
  if (!value.endsWith("%"))
    throw new IntOrStringError("invalid value for IntOrString: invalid type: string is not a percentage");
  const percent = value.slice(0, -1);
  if (!/^[+-]?\d+$/.test(percent)) {
    const why = `strconv.Atoi: parsing ${goQuote(percent)}: invalid syntax`;
    throw new IntOrStringError(`invalid value for IntOrString: invalid value ${goQuote(value)}: ${why}`);
  }
  const share = (Number(percent) * total) / 100;
  return rounding === "up" ? Math.ceil(share) : Math.floor(share);
}

export function isPercentage(value: Json): boolean {
  return typeof value === "string" && /^[0-9]+%$/.test(value);
}
