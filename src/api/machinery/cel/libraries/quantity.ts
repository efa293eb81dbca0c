/**
 * `quantity`, `isQuantity` and arithmetic with quantities.
 *
 * Kubernetes holds a quantity as an int64 and a scale where that is enough, and as a decimal of any size otherwise.
 * Expressions can see the difference: only a quantity of the first form without a negative scale is an integer. So
 * `small` is kept along.
 */
import {
  compareQuantities,
  negateQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  quantityOf,
  scaledValue,
} from "../../scalars/quantity.ts";
import { nominal, walk } from "../functions/call-costs.ts";
import { range } from "../functions/cost.ts";
import { fn, global, type Library, member, type Overload } from "../functions/function.ts";
import { bool, double, int, opaque, string, type Type } from "../values/type.ts";
import { CelError, Opaque, type Outcome } from "../values/value.ts";

export const quantityType = opaque("kubernetes.Quantity");

export class QuantityValue extends Opaque {
  override readonly type = quantityType;
  readonly quantity: Quantity;
  readonly small: boolean;

  constructor(quantity: Quantity, small: boolean) {
    super();
    this.quantity = quantity;
    this.small = small;
  }

  override equals(other: Opaque): boolean {
    return other instanceof QuantityValue && order(this, other) === 0;
  }
}

/** From the text of a validated field, or of an expression; fails for an invalid quantity. */
export function toQuantity(text: string): QuantityValue | CelError {
  try {
    const parsed = parseQuantity(text);
    if (isSmall(text)) return new QuantityValue(parsed, true);
    const scale = Math.min(parsed.scale, nano);
    return new QuantityValue({ unscaled: scaledValue(parsed, scale), scale, format: parsed.format }, false);
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

export const quantity: Library = {
  name: "kubernetes.quantity",
  types: [{ type: quantityType, equality: () => range(1) }],
  functions: [
    fn("quantity", global("string_to_quantity", [string], quantityType, toQuantity, walk())),
    fn(
      "isQuantity",
      global("is_quantity_string", [string], bool, (text: string) => !(toQuantity(text) instanceof CelError), walk()),
    ),
    fn("sign", global("quantity_sign", [quantityType], int, sign, nominal)),
    fn(
      "isInteger",
      unary("quantity_is_integer", bool, (value) => integerOf(value) !== undefined),
    ),
    fn("asInteger", unary("quantity_get_int", int, asInteger)),
    fn("asApproximateFloat", unary("quantity_get_float", double, asApproximateFloat)),
    fn(
      "isGreaterThan",
      binary("quantity_is_greater_than", bool, (a, b) => order(a, b) > 0),
    ),
    fn(
      "isLessThan",
      binary("quantity_is_less_than", bool, (a, b) => order(a, b) < 0),
    ),
    fn(
      "compareTo",
      binary("quantity_compare_to", int, (a, b) => BigInt(order(a, b))),
    ),
    fn(
      "add",
      binary("quantity_add", quantityType, plus),
      withInt("quantity_add_int", (a, b) => plus(a, b)),
    ),
    fn(
      "sub",
      binary("quantity_sub", quantityType, minus),
      withInt("quantity_sub_int", (a, b) => minus(a, b)),
    ),
  ],
};

const nano = -9;
const largest = 2n ** 63n - 1n;
const binarySuffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** By the number of digits as written, as Kubernetes decides it. */
function isSmall(text: string): boolean {
  if (text === "0") return true;
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? [];
  const digits = Math.max(1, whole.length);
  const power = binarySuffixes.indexOf(suffix) + 1;
  if (power > 0) return fraction === "" && 14 - digits - power * 3 >= 0;
  return digits + fraction.length <= 18 && parseQuantity(text).scale >= nano;
}

function unary(id: string, result: Type, call: (value: QuantityValue) => Outcome): Overload {
  return member(id, [quantityType], result, call, nominal);
}

function binary(id: string, result: Type, call: (a: QuantityValue, b: QuantityValue) => Outcome): Overload {
  return member(id, [quantityType, quantityType], result, call, nominal);
}

function withInt(id: string, call: (a: QuantityValue, b: QuantityValue) => Outcome): Overload {
  const converted = (a: QuantityValue, b: bigint) => call(a, new QuantityValue(quantityOf(b, "DecimalExponent"), true));
  return member(id, [quantityType, int], quantityType, converted, nominal);
}

function order(a: QuantityValue, b: QuantityValue): -1 | 0 | 1 {
  return compareQuantities(a.quantity, b.quantity);
}

function sign({ quantity: { unscaled } }: QuantityValue): bigint {
  return unscaled > 0n ? 1n : unscaled < 0n ? -1n : 0n;
}

function integerOf({ quantity, small }: QuantityValue): bigint | undefined {
  if (!small || quantity.scale < 0) return undefined;
  if (quantity.unscaled === 0n) return 0n;
  if (quantity.scale > 18) return undefined;
  const value = scaledValue(quantity, 0);
  return fits(value) ? value : undefined;
}

function asInteger(value: QuantityValue): Outcome {
  return integerOf(value) ?? new CelError("cannot convert value to integer");
}

/** A parsed power of ten is exact, a computed one is not. */
function asApproximateFloat({ quantity: { unscaled, scale } }: QuantityValue): number {
  return scale === 0 ? Number(unscaled) : Number(unscaled) * Number(`1e${scale}`);
}

/** Zero leaves the other operand unchanged, including its scale; the format is that of the first unless it is zero. */
function plus(a: QuantityValue, b: QuantityValue): QuantityValue {
  const [x, y] = [a.quantity, b.quantity];
  const format = x.unscaled === 0n ? y.format : x.format;
  const small = a.small && b.small;
  if (small && y.unscaled === 0n) return new QuantityValue({ unscaled: x.unscaled, scale: x.scale, format }, true);
  if (small && x.unscaled === 0n) return new QuantityValue({ unscaled: y.unscaled, scale: y.scale, format }, true);
  const scale = Math.min(x.scale, y.scale);
  const [left, right] = [scaledValue(x, scale), scaledValue(y, scale)];
  const unscaled = left + right;
  return new QuantityValue({ unscaled, scale, format }, small && fits(left) && fits(right) && fits(unscaled));
}

function minus(a: QuantityValue, b: QuantityValue): QuantityValue {
  return plus(a, new QuantityValue(negateQuantity(b.quantity), b.small));
}

function fits(value: bigint): boolean {
  return value >= -largest - 1n && value <= largest;
}
