/**
 * Does things with objects in their kind's own form, in the order in which they came.
 *
 * 1. What is known, with nothing before it, is done at once, in the same turn.
 * 2. What fails is told once; nothing is done after it, and nothing after `end`.
 */
import type { StoredObject } from "../cache/stored-object.ts";
import { type Forms, loaded } from "../rest/forms.ts";

type Own = (stored: StoredObject) => StoredObject;

export class InTurn {
  readonly #forms: Forms | undefined;
  readonly #fail: (error: unknown) => void;
  readonly #own: Own;
  /** Undefined while nothing waits. */
  #last: Promise<void> | undefined;
  #ended = false;

  constructor(forms: Forms | undefined, fail: (error: unknown) => void) {
    this.#forms = forms;
    this.#fail = fail;
    this.#own = forms === undefined ? (stored) => stored : (stored) => loaded(forms, stored);
  }

  run(objects: readonly StoredObject[], work: (own: Own) => void): void {
    const unknown = objects.filter((stored) => this.#forms?.known(stored) === undefined && this.#forms !== undefined);
    if (this.#last === undefined && unknown.length === 0) {
      if (!this.#ended) work(this.#own);
      return;
    }
    // Asked for at once, so that what comes in quick succession does not wait one after the other.
    const forms = this.#forms?.load(unknown) ?? Promise.resolve();
    // Its turn may come later than its failure, which is told then.
    forms.catch(() => {});
    const mine = (this.#last ?? Promise.resolve())
      .then(() => forms)
      .then(
        () => {
          if (!this.#ended) work(this.#own);
        },
        (error: unknown) => {
          if (this.#ended) return;
          this.#ended = true;
          this.#fail(error);
        },
      )
      .finally(() => {
        if (this.#last === mine) this.#last = undefined;
      });
    this.#last = mine;
  }

  end(): void {
    this.#ended = true;
  }
}
