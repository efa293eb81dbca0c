/**
 * What lines of the log are made of. Most of a line are phrases, texts that many events have in common: who asked, why it was allowed, the names of fields.
 *
 * 1. The same text mostly is the same object, so whoever writes events elsewhere can say it once, and later by a number.
 */

export class Phrase {
  readonly text: string;
  /** Where a sink has noted it: see `batch-log.ts`. */
  book: object | undefined;
  place = 0;
  /** What came after it the last time, and both as one. */
  #next: Phrase | undefined;
  #both: Phrase | undefined;
  #followed: WeakMap<Phrase, Phrase> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Both as one phrase: what mostly comes together is one number, and one piece of a line. */
  followedBy(next: Phrase): Phrase {
    if (this.#next === next && this.#both !== undefined) return this.#both;
    this.#followed ??= new WeakMap();
    const both = this.#followed.get(next) ?? new Phrase(this.text + next.text);
    this.#followed.set(next, both);
    this.#next = next;
    this.#both = both;
    return both;
  }

  toString(): string {
    return this.text;
  }
}

/** A text that the events of one request have in common. */
export class Said {
  readonly text: string;
  /** Where a sink has it already. */
  batch: object | undefined;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A time as the log shows it. It becomes a text where the line is written. */
export class Moment {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  toString(): string {
    return momentText(this.ms);
  }
}

export function momentText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
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
