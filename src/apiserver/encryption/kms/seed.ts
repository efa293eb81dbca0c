/**
 * Data encrypted under a seed: each value has a key of its own, expanded from the seed (HKDF of RFC 5869, the second
 * half of it, with SHA-256).
 *
 *     stored   info(32) nonce(12) ciphertext tag(16)          key = HKDF-Expand(seed, info, 32)
 *
 * 1. Each write has a new key, so one seed serves any number of writes: no nonce is repeated under one key.
 */
import { createHmac, randomBytes } from "node:crypto";
import { aesGcm } from "../aes.ts";
import type { Cipher } from "../transformer.ts";

export const SEED_BYTES = 32;
const INFO_BYTES = 32;

export function seeded(seed: Buffer): Cipher {
  if (seed.length < SEED_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  return {
    open(kept, key) {
      if (kept.length < INFO_BYTES) throw new Error("the stored data was shorter than the required size");
      return aesGcm(expanded(seed, kept.subarray(0, INFO_BYTES))).open(kept.subarray(INFO_BYTES), key);
    },
    seal(value, key) {
      const info = randomBytes(INFO_BYTES);
      return Buffer.concat([info, aesGcm(expanded(seed, info)).seal(value, key)]);
    },
  };
}

/** A key is one block of output. */
export function expanded(seed: Buffer, info: Buffer): Buffer {
  return createHmac("sha256", seed).update(info).update(Buffer.of(1)).digest();
}
