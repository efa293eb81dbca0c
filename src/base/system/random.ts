/**
 * Chance is passed in, everywhere: whoever needs it takes a Random.
 *
 * 1. `systemRandom` is fit for names, tokens and keys. `seededRandom` is for tests and simulations: fast, the same
 *    numbers for the same seed, and easy to predict.
 * 2. Every number has 53 random bits, so a choice among `n` is uneven by less than n / 2^53.
 */

import { randomFillSync } from "node:crypto";

export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number, 0 ≤ n < `below`. */
  integer(below: number): number;
  /** One element of a list that has some. */
  pick<T>(list: readonly T[]): T;
  bytes(length: number): Uint8Array<ArrayBuffer>;
  /** `alphabet` is a list of single UTF-16 units; by default `readableAlphabet`. */
  string(length: number, alphabet?: string): string;
}

/** Lower-case letters and digits that can be told apart and, having no vowels, spell no words. */
export const readableAlphabet = "bcdfghjklmnpqrstvwxz2456789";

export function systemRandom(): Random {
  const pool = new Uint32Array(1024);
  let used = pool.length;
  const word = () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    return pool[used++] ?? 0;
  };
  return randomFrom(word, (length) => randomFillSync(new Uint8Array(length)));
}

export function seededRandom(seed: number): Random {
  const word = sfc32(seed);
  return randomFrom(word, (length) => Uint8Array.from({ length }, () => word() >>> 24));
}

function randomFrom(word: () => number, bytes: Random["bytes"]): Random {
  const next = () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const integer = (below: number) => {
    if (!Number.isSafeInteger(below) || below < 1) throw new RangeError(`no whole number lies below ${below}`);
    return Math.floor(next() * below);
  };
  return {
    next,
    integer,
    bytes,
    pick: <T>(list: readonly T[]): T => {
      if (list.length === 0) throw new RangeError("cannot pick from an empty list");
      return list[integer(list.length)] as T;
    },
    string: (length, alphabet = readableAlphabet) => {
      let text = "";
      for (let i = 0; i < length; i++) text += alphabet.charAt(integer(alphabet.length));
      return text;
    },
  };
}

/**
 * Chris Doty-Humphrey's small fast counting generator: 128 bits of state, passes PractRand; a few rounds spread the
 * seed.
 */
function sfc32(seed: number): () => number {
  const [low = 0, high = 0] = new Uint32Array(Float64Array.of(seed).buffer);
  let a = 0;
  let b = low;
  let c = high;
  let counter = 1;
  const word = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let i = 0; i < 15; i++) word();
  return word;
}
