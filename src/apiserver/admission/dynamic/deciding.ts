/**
 * Lets expressions, which cannot wait, use an authorizer that may have to.
 *
 *     expression ──► authorize ──► decided at once, or known ──► goes on
 *                        └───────► pending ──► the expression is aborted, and runs again when the decision is known
 *
 * Each authorization check of a request is made once, however often expressions need it.
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

  /** Runs a function that may authorize. It must have no side effects: it may run again. */
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

/** Thrown to abort an expression whose authorization is pending. */
class Undecided extends Error {
  readonly question: string;
  readonly verdict: Promise<AuthorizerVerdict>;

  constructor(question: string, verdict: Promise<AuthorizerVerdict>) {
    super("a verdict has to be waited for");
    this.question = question;
    this.verdict = verdict;
  }
}
