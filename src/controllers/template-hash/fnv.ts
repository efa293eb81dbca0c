/** The FNV hashes of 32 bits, over UTF-8. Names of objects are made of them, so they must be those of everyone else. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const text = new TextEncoder();

/** Multiplies first: what Go calls `fnv.New32`. */
export function fnv32(...parts: readonly (string | Uint8Array)[]): number {
  return hash(parts, (state, byte) => Math.imul(state, PRIME) ^ byte);
}

/** Adds first: `fnv.New32a`. */
export function fnv32a(...parts: readonly (string | Uint8Array)[]): number {
  return hash(parts, (state, byte) => Math.imul(state ^ byte, PRIME));
}

function hash(parts: readonly (string | Uint8Array)[], step: (state: number, byte: number) => number): number {
  let state = OFFSET;
  for (const part of parts) {
    for (const byte of typeof part === "string" ? text.encode(part) : part) state = step(state, byte);
  }
  return state >>> 0;
}

/** No vowels and nothing that looks like another character: what generated names are made of. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

/** A number as part of a name that spells no words. */
export function safeName(value: number): string {
  return [...String(value)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join("");
}
