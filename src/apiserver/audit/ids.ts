/**
 * Ids of requests: version 4 UUIDs, made by the hundred. Each is a part of one text, which is in one piece: those of node:crypto are joined of many, and whoever
 * writes one down has to put it together first.
 */
import { randomFillSync } from "node:crypto";

const AT_ONCE = 256;
const RANDOM_BYTES = 16;
const LENGTH = 36;
const DASH = 0x2d;
const DASH_BEFORE: ReadonlySet<number> = new Set([4, 6, 8, 10]);
const DIGITS = Buffer.from("0123456789abcdef");

/** Not for what is kept for long: as long as one of them is, the text is. */
export class RequestIds {
  /** Those that were made together with the last one, as bytes: until it is made of others. */
  readonly letters = Buffer.allocUnsafeSlow(AT_ONCE * LENGTH);
  /** How often it was. */
  rounds = 0;
  readonly #random = Buffer.allocUnsafeSlow(AT_ONCE * RANDOM_BYTES);
  #text = "";
  #used = AT_ONCE;
  #last = "";

  next(): string {
    if (this.#used === AT_ONCE) {
      spell(randomFillSync(this.#random), this.letters);
      this.#text = this.letters.toString("latin1");
      this.#used = 0;
      this.rounds += 1;
    }
    const at = this.#used++ * LENGTH;
    this.#last = this.#text.slice(at, at + LENGTH);
    return this.#last;
  }

  /** Where it begins among the letters; -1 if it is not the one that was made last. */
  placeOf(id: string): number {
    return id === this.#last ? (this.#used - 1) * LENGTH : -1;
  }
}

function spell(random: Buffer, letters: Buffer): void {
  let at = 0;
  for (let i = 0; i < random.length; i++) {
    const byte = random[i] ?? 0;
    const place = i % RANDOM_BYTES;
    if (DASH_BEFORE.has(place)) letters[at++] = DASH;
    const value = place === 6 ? (byte & 0x0f) | 0x40 : place === 8 ? (byte & 0x3f) | 0x80 : byte;
    letters[at++] = DIGITS[value >> 4] ?? 0;
    letters[at++] = DIGITS[value & 0x0f] ?? 0;
  }
}
