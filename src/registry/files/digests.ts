/** Content digests, as `sha256:…`: the names of blobs and manifests. */
import { createHash, type Hash } from "node:crypto";
import { table } from "#base";
import { RegistryError } from "./errors.ts";

const LENGTHS = table({ sha256: 64, sha512: 128 });
const DEFAULT_ALGORITHM = "sha256";

export interface Digest {
  readonly algorithm: string;
  readonly hex: string;
  readonly text: string;
}

export function isDigest(text: string): boolean {
  return text.includes(":");
}

export function parseDigest(text: string): Digest {
  const [, algorithm = "", hex = ""] = /^([a-z0-9]+(?:[+._-][a-z0-9]+)*):([a-f0-9]+)$/.exec(text) ?? [];
  const length = LENGTHS[algorithm];
  if (hex.length === 0 || hex.length !== length)
    throw new RegistryError(400, "DIGEST_INVALID", "provided digest is not a sha256 or sha512 digest", {
      digest: text,
    });
  return { algorithm, hex, text };
}

export function digestOf(bytes: Uint8Array, algorithm = DEFAULT_ALGORITHM): Digest {
  return digestOfHash(createHash(algorithm).update(bytes), algorithm);
}

/** Hashes with every algorithm that a client may name, because it names it after it has sent the bytes. */
export class Hashes {
  readonly #hashes = new Map(Object.keys(LENGTHS).map((name) => [name, createHash(name)] as const));

  update(bytes: Uint8Array): void {
    for (const hash of this.#hashes.values()) hash.update(bytes);
  }

  /** Can be called once for each algorithm, and more bytes may follow. */
  digest(algorithm: string): Digest {
    const hash = this.#hashes.get(algorithm);
    if (hash === undefined) throw new TypeError(`no hash ${algorithm}`);
    return digestOfHash(hash.copy(), algorithm);
  }
}

function digestOfHash(hash: Hash, algorithm: string): Digest {
  const hex = hash.digest("hex");
  return { algorithm, hex, text: `${algorithm}:${hex}` };
}
