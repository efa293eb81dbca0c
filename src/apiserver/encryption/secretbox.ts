/**
 * NaCl's secretbox: XSalsa20 to encrypt, Poly1305 to authenticate. Node has neither.
 *
 *     kept   nonce(24) tag(16) ciphertext
 *
 * 1. The first 32 bytes of the key stream are the key of the authenticator; the message is encrypted with what follows.
 * 2. Tags are compared in constant time, before anything is decrypted.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { poly1305 } from "./poly1305.ts";
import type { Cipher } from "./way.ts";

const NONCE = 24;
const TAG = 16;
const AUTH_KEY = 32;
/** Where the number of the block stands. */
const COUNTER = 8;
/** "expand 32-byte k" */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
/** The words of each quarter round, four by four: columns first, then rows. */
const QUARTERS = Uint8Array.of(
  ...[0, 4, 8, 12, 5, 9, 13, 1, 10, 14, 2, 6, 15, 3, 7, 11],
  ...[0, 1, 2, 3, 5, 6, 7, 4, 10, 11, 8, 9, 15, 12, 13, 14],
);

export function secretbox(secret: Buffer): Cipher {
  return {
    open(kept) {
      if (kept.length < NONCE + TAG) throw new Error("the stored data was shorter than the required size");
      return openBox(kept.subarray(NONCE), kept.subarray(0, NONCE), secret);
    },
    seal(value) {
      const nonce = randomBytes(NONCE);
      return Buffer.concat([nonce, sealBox(value, nonce, secret)]);
    },
  };
}

/** Tag and ciphertext. */
export function sealBox(message: Buffer, nonce: Uint8Array, key: Uint8Array): Buffer {
  const { authKey, body } = keyed(message, nonce, key);
  return Buffer.concat([poly1305(body, authKey), body]);
}

export function openBox(box: Buffer, nonce: Uint8Array, key: Uint8Array): Buffer {
  const stored = box.subarray(TAG);
  const { authKey, body } = keyed(stored, nonce, key);
  if (!timingSafeEqual(poly1305(stored, authKey), box.subarray(0, TAG))) {
    throw new Error("output array was not large enough for encryption");
  }
  return body;
}

/** The message XOR the key stream, and the key of the authenticator. */
function keyed(message: Buffer, nonce: Uint8Array, key: Uint8Array) {
  const stream = keyStream(AUTH_KEY + message.length, nonce, key);
  const body = Buffer.allocUnsafe(message.length);
  for (let i = 0; i < message.length; i++) body[i] = (message[i] ?? 0) ^ (stream[AUTH_KEY + i] ?? 0);
  return { authKey: stream.subarray(0, AUTH_KEY), body };
}

/** XSalsa20: a key made of the first 16 bytes of the nonce, then Salsa20 with the other 8 and a counter. */
export function keyStream(length: number, nonce: Uint8Array, key: Uint8Array): Uint8Array {
  const derived = hSalsa20(words(nonce.subarray(0, 16)), words(key));
  const [n0 = 0, n1 = 0] = words(nonce.subarray(16, 24));
  const blocks = Math.ceil(length / 64);
  const stream = new Uint8Array(blocks * 64);
  const view = new DataView(stream.buffer);
  const start = state(derived, [n0, n1, 0, 0]);
  for (let block = 0; block < blocks; block++) {
    // No value is large enough for the counter's second word.
    start[COUNTER] = block;
    const mixed = rounds(start);
    for (let i = 0; i < 16; i++) view.setInt32(block * 64 + i * 4, ((mixed[i] ?? 0) + (start[i] ?? 0)) | 0, true);
  }
  return stream.subarray(0, length);
}

function hSalsa20(nonce: readonly number[], key: readonly number[]): readonly number[] {
  const mixed = rounds(state(key, nonce));
  return [0, 5, 10, 15, 6, 7, 8, 9].map((i) => mixed[i] ?? 0);
}

/** Constants on the diagonal, the key around them, nonce and counter in the middle. */
function state(key: readonly number[], middle: readonly number[]): Int32Array {
  const [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = SIGMA;
  return Int32Array.from([s0, ...key.slice(0, 4), s1, ...middle, s2, ...key.slice(4, 8), s3]);
}

function rounds(start: Int32Array): Int32Array {
  const x = start.slice();
  const q = QUARTERS;
  for (let double = 0; double < 10; double++)
    for (let i = 0; i < q.length; i += 4) quarter(x, q[i] ?? 0, q[i + 1] ?? 0, q[i + 2] ?? 0, q[i + 3] ?? 0);
  return x;
}

function quarter(x: Int32Array, a: number, b: number, c: number, d: number): void {
  x[b] = (x[b] ?? 0) ^ turned((x[a] ?? 0) + (x[d] ?? 0), 7);
  x[c] = (x[c] ?? 0) ^ turned((x[b] ?? 0) + (x[a] ?? 0), 9);
  x[d] = (x[d] ?? 0) ^ turned((x[c] ?? 0) + (x[b] ?? 0), 13);
  x[a] = (x[a] ?? 0) ^ turned((x[d] ?? 0) + (x[c] ?? 0), 18);
}

function turned(sum: number, bits: number): number {
  return (sum << bits) | (sum >>> (32 - bits));
}

function words(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(i * 4, true));
}
