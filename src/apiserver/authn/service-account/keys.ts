/**
 * The keys of service account tokens: one signs, several verify, so that keys can be rotated.
 *
 * 1. The id of a key is the digest of its public half.
 */

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { table } from "#base";

export interface VerificationKey {
  readonly id: string;
  /** The id in tokens and in the key set. */
  readonly algorithm: string;
  /** Algorithms of its signatures. */
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
  /** It verifies earlier tokens, and is not in the published key set. */
  readonly isUnpublished?: boolean;
}

export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const CURVES: Readonly<Record<string, string>> = table({ prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" });
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** All keys of a file: public keys, certificates, and the public halves of private keys. */
export function verificationKeys(pem: string, file: string): readonly VerificationKey[] {
  // The file of an EC key may start with the parameters of its curve.
  const blocks = [...pem.matchAll(BLOCK)].filter(([, type]) => type !== "EC PARAMETERS");
  if (blocks.length === 0) throw new KeyFileError(`${file} holds no key in PEM.`);
  return blocks.map(([block]) =>
    described(
      readKey(() => createPublicKey(block), file),
      file,
    ),
  );
}

export function signingKey(pem: string, file: string): SigningKey {
  const privateKey = readKey(() => createPrivateKey(pem), file);
  return { ...described(createPublicKey(privateKey), file), privateKey };
}

/** The default key, for the life of the process. */
export function temporaryKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...described(publicKey, "a key in memory"), privateKey };
}

function readKey(read: () => KeyObject, file: string): KeyObject {
  try {
    return read();
  } catch (error) {
    throw new KeyFileError(`${file} holds something that is not a key: ${(error as Error).message}.`, { cause: error });
  }
}

export function described(key: KeyObject, file: string): VerificationKey {
  const id = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  if (key.asymmetricKeyType === "rsa") return { id, algorithm: "RS256", algorithms: RSA, key };
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (key.asymmetricKeyType !== "ec" || algorithm === undefined) {
    throw new KeyFileError(
      `${file} holds a key of type ${key.asymmetricKeyType}: RSA, or EC on P-256, P-384 or P-521, is needed.`,
    );
  }
  return { id, algorithm, algorithms: [algorithm], key };
}

/** Each key once, in the order given. */
export function distinctKeys(keys: readonly VerificationKey[]): readonly VerificationKey[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}
