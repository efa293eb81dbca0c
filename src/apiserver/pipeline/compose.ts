/**
 * Steps, put together in the order in which they run.
 *
 * 1. A step may look at the exchange, wait, answer without calling `next`, or wrap the answer of `next`.
 * 2. The exchange's type grows: a step says what it needs (`In`) and what it hands on (`Out`). A step in front of the
 *    one that adds what it needs does not compile.
 */
import type { Answering } from "../http/exchange.ts";

export type Next<E> = (exchange: E) => Answering;

export type Step<In, Out = In> = (exchange: In, next: Next<Out>) => Answering;

/** A step that does nothing. */
export function passThrough<E>(exchange: E, next: Next<E>): Answering {
  return next(exchange);
}

export function compose<First>(): Composition<First, First> {
  return new Composition((next) => next);
}

class Composition<First, Last> {
  readonly #before: (next: Next<Last>) => Next<First>;

  constructor(before: (next: Next<Last>) => Next<First>) {
    this.#before = before;
  }

  step<Out>(step: Step<Last, Out>): Composition<First, Out> {
    return new Composition((next) => this.#before((exchange) => step(exchange, next)));
  }

  end(last: Next<Last>): Next<First> {
    return this.#before(last);
  }
}
