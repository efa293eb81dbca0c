/** A set of values by equality. Scalars are hashed; other values are compared one by one. */
import { equal } from "../../values/equality.ts";
import { hashOf } from "../../values/hash-map.ts";
import { CelError, type Value } from "../../values/value.ts";

/**
 * The limit of comparisons. Their cost is charged after a function has returned, and this many cost more than one
 * evaluation may.
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

/** Undefined for NaN: it equals nothing, not even itself. */
function scalarOf(value: Value): unknown {
  if (typeof value === "number" && !Number.isInteger(value)) return Number.isNaN(value) ? undefined : value;
  return value === null ? null : hashOf(value);
}
