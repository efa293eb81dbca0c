/** Values by what they are equal to. Scalars are found at once, whatever their number; anything else is compared one by one. */
import { equal } from "../../values/equality.ts";
import { hashOf } from "../../values/hash-map.ts";
import { CelError, type Value } from "../../values/value.ts";

/**
 * More comparisons than these are not made. What they cost is charged when a function has returned, and so many cost more than one evaluation
 * may.
 */
const mostComparisons = 1_000_000;
export const tooManyComparisons = new CelError("operation cancelled: actual cost limit exceeded");

export class ValueSet {
  readonly #scalars = new Set<unknown>();
  readonly #others: Value[] = [];
  #comparisons = 0;

  add(value: Value): void {
    const scalar = scalarOf(value);
    if (scalar === undefined) this.#others.push(value);
    else this.#scalars.add(scalar);
  }

  has(value: Value): boolean {
    const scalar = scalarOf(value);
    if (scalar !== undefined) return this.#scalars.has(scalar);
    return this.#others.some((other) => {
      this.#comparisons++;
      return equal(other, value);
    });
  }

  get isExhausted(): boolean {
    return this.#comparisons > mostComparisons;
  }
}

/** NaN is none: it equals nothing, itself included. */
function scalarOf(value: Value): unknown {
  if (typeof value === "number" && !Number.isInteger(value)) return Number.isNaN(value) ? undefined : value;
  return value === null ? null : hashOf(value);
}
