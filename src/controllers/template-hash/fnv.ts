/** FNV hashes of 32 bits, over UTF-8. Object names contain them, so they must equal those of Kubernetes. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const text = new TextEncoder();

/** Multiplies first: Go's `fnv.New32`. */
export function fnv32(...parts: readonly (string | Uint8Array)[]): number {
  return hash(parts, (state, byte) => Math.imul(state, PRIME) ^ byte);
}

/** Xors first: Go's `fnv.New32a`. */
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

/** The alphabet of generated names: without vowels and without characters that look alike. */
const SAFE = "bcdfghjklmnpqrstvwxz2456789";

/** Encodes a number with that alphabet. */
export function safeName(value: number): string {
  return [...String(value)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join("");
}
