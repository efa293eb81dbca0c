/** Private keys: made as EC P-256, kept as PKCS#8. */

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { PkiError } from "./errors.ts";

export function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

export function pkcs8(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** `remedy`: what to do if the file has no key. */
export function privateKeyIn(file: string, pem: string, remedy: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new PkiError(`${file} is damaged or not a private key: ${remedy}.`, error);
  }
}
