/**
 * Texts that many events have in common: who asked, why it was allowed, the names of fields. Most of a line is made of them.
 *
 * 1. The same text mostly is the same object, so whoever writes events elsewhere can say it once, and later by a number.
 */

export class Phrase {
  readonly text: string;
  /** Where a sink has noted it: see `batch-log.ts`. */
  book: object | undefined;
  place = 0;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Texts that come from outside may be any number: too many of them are all forgotten. */
const REMEMBERED = 1_000;

/** Phrases by what they are about. */
export class Phrases<K> {
  readonly #known = new Map<K, Phrase>();
  readonly #textOf: (key: K) => string;

  constructor(textOf: (key: K) => string) {
    this.#textOf = textOf;
  }

  of(key: K): Phrase {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const phrase = new Phrase(this.#textOf(key));
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, phrase);
    return phrase;
  }
}
