/**
 * Transforms values on their way to the store and back.
 *
 * 1. `key` is the key of the value in the store. Transformers that can bind the value to it: copied to another key, it
 *    cannot be read.
 * 2. `read` throws, or rejects, with a message for the user when `write` did not produce the bytes.
 */
export interface Transformer {
  /** The prefix of its values. Empty: they are stored as they are. */
  readonly prefix: Buffer;
  /** Identifies transformer and key of a value: a value with another mark than `currentMark` is outdated. */
  mark(kept: Buffer): string;
  /** The mark of values that `write` produces now. */
  readonly currentMark: string;
  /** `kept`: the value without its prefix. A promise only if a key has to be requested. */
  read(kept: Buffer, key: string): Buffer | Promise<Buffer>;
  write(value: Buffer, key: string): Buffer;
}

/** Encryption with a local key. */
export interface Cipher {
  open(kept: Buffer, key: string): Buffer;
  seal(value: Buffer, key: string): Buffer;
}

export function cipherTransformer(prefix: string, { open, seal }: Cipher): Transformer {
  return { prefix: Buffer.from(prefix), mark: () => prefix, currentMark: prefix, read: open, write: seal };
}

export const ENCRYPTED = Buffer.from("k8s:enc:");

export function isEncrypted(value: Buffer): boolean {
  return value[0] === ENCRYPTED[0] && startsWith(value, ENCRYPTED);
}

export function startsWith(value: Buffer, prefix: Buffer): boolean {
  return value.subarray(0, prefix.length).equals(prefix);
}

/** Values as they are. It does not read encrypted values. */
export const identityTransformer: Transformer = {
  prefix: Buffer.alloc(0),
  mark: () => "",
  currentMark: "",
  read: (kept) => {
    if (isEncrypted(kept)) throw new Error("identity transformer tried to read encrypted data");
    return kept;
  },
  write: (value) => value,
};
