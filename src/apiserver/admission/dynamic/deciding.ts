/**
 * An authorizer for expressions, which cannot wait, from one that may have to.
 *
 *     expression ──► ask ──► known, or decided at once ──► goes on
 *                      └──► has to be waited for ──► the expression is given up, and run again when the answer is there
 *
 * 1. A question is asked once for each request, however often and wherever expressions ask it.
 */

import type { AuthorizerAttributes, AuthorizerVerdict } from "#api";
import { isPending, type Maybe } from "#base";
import type { Authorizer } from "../../authz/authorizer.ts";

export class Deciding {
  readonly #authorize: Authorizer;
  readonly #known = new Map<string, AuthorizerVerdict>();

  constructor(authorize: Authorizer) {
    this.#authorize = authorize;
  }

  readonly ask = (attributes: AuthorizerAttributes): AuthorizerVerdict => {
    const question = JSON.stringify(attributes);
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const verdict = this.#authorize(attributes);
    if (isPending(verdict)) throw new Undecided(question, verdict);
    this.#known.set(question, verdict);
    return verdict;
  };

  /** Runs what asks. It has no effects, so that it can be run again. */
  run<T>(evaluate: () => T): Maybe<T> {
    try {
      return evaluate();
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      return error.verdict.then((verdict) => {
        this.#known.set(error.question, verdict);
        return this.run(evaluate);
      });
    }
  }
}

/** Control flow: an answer that has to be waited for. */
class Undecided extends Error {
  readonly question: string;
  readonly verdict: Promise<AuthorizerVerdict>;

  constructor(question: string, verdict: Promise<AuthorizerVerdict>) {
    super("a verdict has to be waited for");
    this.question = question;
    this.verdict = verdict;
  }
}
