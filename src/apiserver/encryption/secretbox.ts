/**
 * NaCl's secretbox, XSalsa20 and Poly1305, which Node does not have: the audited @noble/ciphers does the work (ADR
 * 0024).
 *
 *     stored   nonce(24) tag(16) ciphertext
 */
import { randomBytes } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import type { Cipher } from "./transformer.ts";

const NONCE = 24;
const TAG = 16;

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
  return bufferOf(xsalsa20poly1305(key, nonce).encrypt(message));
}

export function openBox(box: Buffer, nonce: Uint8Array, key: Uint8Array): Buffer {
  try {
    return bufferOf(xsalsa20poly1305(key, nonce).decrypt(box));
  } catch (error) {
    // Kubernetes' words.
    throw new Error("output array was not large enough for encryption", { cause: error });
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
