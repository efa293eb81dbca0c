/**
 * Converts objects to the version of their kind, and hands them on in the order in which they arrived.
 *
 * 1. An object that needs no conversion, with none before it, is handed on in the same turn.
 * 2. The first failure is reported, and nothing is handed on after it or after `end`.
 */
import type { StoredObject } from "../cache/stored-object.ts";
import { type Forms, loaded } from "../rest/forms.ts";

type Own = (stored: StoredObject) => StoredObject;

export class InTurn {
  readonly #forms: Forms | undefined;
  readonly #fail: (error: unknown) => void;
  readonly #own: Own;
  /** Undefined while nothing is queued. */
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
    // Conversions start at once, so that objects in quick succession are converted concurrently.
    const forms = this.#forms?.load(unknown) ?? Promise.resolve();
    // It may fail before it is its turn: the failure is reported in its turn.
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
