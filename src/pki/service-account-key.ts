/**
 * The key that signs service-account tokens. EC P-256 (ES256), because it is made in under a millisecond, where an RSA
 * key takes a noticeable part of a start. For a verifier outside the cluster that needs RS256, put an RSA key there:
 * both work.
 *
 * 1. The private key is never replaced: every token of the cluster depends on it. The public file is derived from it.
 */

import { createPublicKey } from "node:crypto";
import { join } from "node:path";
import { PkiError } from "./errors.ts";
import { type FileWrite, PRIVATE_FILE, PUBLIC_FILE, readIfPresent } from "./files.ts";
import { newKey, pkcs8, privateKeyIn } from "./keys.ts";

export interface ServiceAccountKey {
  readonly keyPem: string;
  readonly publicKeyPem: string;
}

export async function planServiceAccountKey(
  dir: string,
): Promise<{ readonly value: ServiceAccountKey; readonly writes: readonly FileWrite[] }> {
  const keyFile = join(dir, "sa.key");
  const publicFile = join(dir, "sa.pub");
  const [foundKey, foundPublic] = await Promise.all([readIfPresent(keyFile), readIfPresent(publicFile)]);
  if (foundKey === undefined && foundPublic !== undefined) {
    throw new PkiError(`${keyFile} is missing beside sa.pub: put it back, or remove sa.pub to start with a new key.`);
  }
  const keyPem = foundKey ?? pkcs8(newKey());
  const remedy = "put back a copy, or remove it and sa.pub, which ends all tokens";
  const publicKeyPem = createPublicKey(privateKeyIn(keyFile, keyPem, remedy))
    .export({ type: "spki", format: "pem" })
    .toString();
  const writes: FileWrite[] = [];
  if (foundKey === undefined) writes.push({ path: keyFile, text: keyPem, mode: PRIVATE_FILE });
  if (foundPublic !== publicKeyPem) writes.push({ path: publicFile, text: publicKeyPem, mode: PUBLIC_FILE });
  return { value: { keyPem, publicKeyPem }, writes };
}
