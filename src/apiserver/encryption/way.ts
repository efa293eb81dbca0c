/**
 * A way to keep values: what goes to the store for some bytes, and the bytes again.
 *
 * 1. `key` is where the value stands in the store. Ways that can, bind the value to it: moved to another key, it cannot be read.
 * 2. `read` throws, or rejects, with a sentence for the user when the bytes are not what `write` made.
 */
export interface Way {
  /** What its values begin with. Empty: they are kept as they are. */
  readonly prefix: Buffer;
  /** Told apart from values of other ways, and from those that this way wrote with another key: what has another mark is due to be written again. */
  mark(kept: Buffer): string;
  /** The mark of what is written now. */
  readonly currentMark: string;
  /** `kept` is what stands behind the prefix. Waits only where a key has to be asked for. */
  read(kept: Buffer, key: string): Buffer | Promise<Buffer>;
  write(value: Buffer, key: string): Buffer;
}

/** Encryption that needs nothing but its key. */
export interface Cipher {
  open(kept: Buffer, key: string): Buffer;
  seal(value: Buffer, key: string): Buffer;
}

export function cipherWay(prefix: string, { open, seal }: Cipher): Way {
  return { prefix: Buffer.from(prefix), mark: () => prefix, currentMark: prefix, read: open, write: seal };
}

export const ENCRYPTED = Buffer.from("k8s:enc:");

export function isEncrypted(value: Buffer): boolean {
  return value[0] === ENCRYPTED[0] && startsWith(value, ENCRYPTED);
}

export function startsWith(value: Buffer, prefix: Buffer): boolean {
  return value.subarray(0, prefix.length).equals(prefix);
}

/** Values as they are. It reads nothing that another way has written. */
export const identityWay: Way = {
  prefix: Buffer.alloc(0),
  mark: () => "",
  currentMark: "",
  read: (kept) => {
    if (isEncrypted(kept)) throw new Error("identity transformer tried to read encrypted data");
    return kept;
  },
  write: (value) => value,
};
