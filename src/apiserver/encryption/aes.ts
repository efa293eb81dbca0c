/**
 * Values encrypted with AES: nonce or initialization vector first, then the ciphertext.
 *
 *     aescbc   iv(16) ciphertext, padded to whole blocks
 *     aesgcm   nonce(12) ciphertext tag(16), bound to the key in the store
 *
 * 1. Nonces come from the system's randomness, never from a seeded one: a repeated nonce reveals the key.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Cipher } from "./transformer.ts";

const BLOCK = 16;
const NONCE = 12;
const TAG = 16;

export function aesCbc(secret: Buffer): Cipher {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    open(kept) {
      if (kept.length < BLOCK) throw new Error("the stored data was shorter than the required size");
      const body = kept.subarray(BLOCK);
      if (body.length === 0 || body.length % BLOCK !== 0) {
        throw new Error("the stored data is not a multiple of the block size");
      }
      const decipher = createDecipheriv(algorithm, secret, kept.subarray(0, BLOCK));
      return opened(() => Buffer.concat([decipher.update(body), decipher.final()]), "invalid padding on input");
    },
    seal(value) {
      const iv = randomBytes(BLOCK);
      const cipher = createCipheriv(algorithm, secret, iv);
      return Buffer.concat([iv, cipher.update(value), cipher.final()]);
    },
  };
}

export function aesGcm(secret: Buffer): Cipher {
  const algorithm = secret.length === 16 ? "aes-128-gcm" : secret.length === 24 ? "aes-192-gcm" : "aes-256-gcm";
  return {
    open(kept, key) {
      if (kept.length < NONCE + TAG) throw new Error("the stored data was shorter than the required size");
      const decipher = createDecipheriv(algorithm, secret, kept.subarray(0, NONCE), { authTagLength: TAG });
      decipher.setAAD(Buffer.from(key));
      decipher.setAuthTag(kept.subarray(-TAG));
      const body = kept.subarray(NONCE, -TAG);
      return opened(
        () => Buffer.concat([decipher.update(body), decipher.final()]),
        "cipher: message authentication failed",
      );
    },
    seal(value, key) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(algorithm, secret, nonce, { authTagLength: TAG });
      cipher.setAAD(Buffer.from(key));
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
  };
}

function opened(work: () => Buffer, otherwise: string): Buffer {
  try {
    return work();
  } catch (error) {
    throw new Error(otherwise, { cause: error });
  }
}
