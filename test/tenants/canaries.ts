/**
 * Unguessable words that are planted in a tenant's objects, and the search for them in what a server answers.
 *
 * 1. A word fits wherever a name, a label or a value is allowed, and has 18 bytes, so that its base64 is the same
 *    wherever it stands alone.
 * 2. A word is also found where base64 hides it at any offset: in Secrets, tokens, and texts inside of them.
 */
import { randomBytes } from "node:crypto";

const WORD = /zq[0-9a-f]{16}/g;
const BASE64 = /[A-Za-z0-9+/_-]{24,}/g;

export class Canaries {
  readonly #places = new Map<string, string>();

  /** A new word; `place` says where it is planted. */
  word(place: string): string {
    const word = randomWord();
    this.#places.set(word, place);
    return word;
  }

  get size(): number {
    return this.#places.size;
  }

  get all(): ReadonlyMap<string, string> {
    return this.#places;
  }

  /** The planted words in an answer. */
  in(text: string): Set<string> {
    const found = new Set(wordsIn(text).filter((word) => this.#places.has(word)));
    for (const [run] of text.matchAll(BASE64))
      for (const word of wordsIn(Buffer.from(run, "base64").toString("latin1"))) {
        if (this.#places.has(word)) found.add(word);
      }
    return found;
  }
}

/** A word that nobody has planted. */
export function randomWord(): string {
  return `zq${randomBytes(8).toString("hex")}`;
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(WORD)].map(([word]) => word);
}
