/**
 * Costs of evaluation, in CEL's units: one unit is about one look-up or one call.
 *
 * 1. Costs are integers; they saturate at `unlimited` instead of overflowing.
 * 2. The budget is the only thing that ends an evaluation from outside: OutOfBudget is thrown, because no operator may
 *    absorb it.
 */

/** No known limit: the largest 64-bit number. */
export const unlimited = 2 ** 64;

export const costs = {
  select: 1,
  constant: 0,
  listCreate: 10,
  mapCreate: 30,
  structCreate: 40,
  /** For each code point of a string that is traversed. */
  stringTraversal: 0.1,
  /** For each code point of a regular expression. */
  regexLength: 0.25,
} as const;

/** A cost or a size within bounds, both inclusive. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export function range(min: number, max: number = min): Range {
  return { min, max };
}

export function addRanges(a: Range, b: Range): Range {
  return { min: saturated(a.min + b.min), max: saturated(a.max + b.max) };
}

export function multiplyRanges(a: Range, b: Range): Range {
  return { min: saturated(a.min * b.min), max: saturated(a.max * b.max) };
}

/** Rounded up, as every fraction of a unit is. */
export function scaleRange(a: Range, factor: number): Range {
  return { min: saturated(Math.ceil(a.min * factor)), max: saturated(Math.ceil(a.max * factor)) };
}

/** The bounds that cover both. */
export function unionRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function saturated(value: number): number {
  return value >= unlimited ? unlimited : value;
}

/** The running total of one evaluation. */
export class Meter {
  spent = 0;
  readonly budget: number;

  constructor(budget: number = Number.POSITIVE_INFINITY) {
    this.budget = budget;
  }

  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.budget) throw new OutOfBudget();
  }
}

export class OutOfBudget extends Error {
  override readonly name = "OutOfBudget";

  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}
