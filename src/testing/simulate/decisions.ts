/**
 * What is left to chance in a run: the order of things that are due at the same time, and how long messages take.
 *
 * 1. All of it follows from the seed.
 * 2. Decisions are numbered. After a limit, things happen in the order in which they were asked for, and at once: a
 *    failure that needs few decisions is easier to understand.
 */
import { type Random, seededRandom } from "#base";

export class Decisions {
  readonly #random: Random;
  readonly #limit: number;
  #made = 0;

  constructor(seed: number, limit = Number.POSITIVE_INFINITY) {
    this.#random = seededRandom(seed);
    this.#limit = limit;
  }

  /** How many have been made so far. */
  get made(): number {
    return this.#made;
  }

  /** 0 ≤ x < 1; 0 after the limit. */
  next(): number {
    return this.#made++ < this.#limit ? this.#random.next() : 0;
  }

  /** A whole number, 0 ≤ n < `below`; 0 after the limit. */
  integer(below: number): number {
    return Math.floor(this.next() * below);
  }
}

/** A seed for one purpose within a run: one more draw for one purpose does not change the others. */
export function seedFor(seed: number, purpose: string): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  for (let at = 0; at < purpose.length; at++) mixed = Math.imul(mixed ^ purpose.charCodeAt(at), 0x01000193) >>> 0;
  return mixed;
}
