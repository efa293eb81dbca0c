/**
 * The checks of arguments that all backends share, with their messages.
 *
 * 1. A mistake of the caller is a RangeError; what only the store can know (compacted, future revision) is a
 *    StoreError.
 * 2. Keys are well-formed Unicode, so that string and UTF-8 bytes convert without loss.
 */

import { StoreError } from "./errors.ts";
import type { ListOptions, Revision } from "./store.ts";

/** Enough for any group, resource, namespace and name, and within the limits of every backend. */
export const MAX_KEY_BYTES = 1024;

export function checkKey(key: string): void {
  if (key.length === 0) throw new RangeError("A key must not be empty.");
  checkText(key, "key");
  // A UTF-16 code unit takes at most three bytes: most keys need no counting.
  if (key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new RangeError(
      `A key may have ${MAX_KEY_BYTES} bytes at most: ${JSON.stringify(key.slice(0, 80))}… is longer.`,
    );
  }
}

export function checkPrefix(prefix: string): void {
  checkText(prefix, "prefix");
}

export function checkRevision(revision: Revision): void {
  if (!Number.isSafeInteger(revision) || revision < 0) {
    throw new RangeError(`A revision is a whole number from 0: ${revision} is not.`);
  }
}

export function checkList(prefix: string, options: ListOptions): void {
  checkPrefix(prefix);
  const { revision, limit, after } = options;
  if (revision !== undefined) checkRevision(revision);
  if (after !== undefined) checkText(after, "key");
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new RangeError(`A limit is a whole number from 1: ${limit} is not.`);
  }
}

/** Throws unless the state at `revision` can be read. */
export function checkReadable(revision: Revision, compacted: Revision, head: Revision): void {
  if (revision < compacted) throw compactedError(revision, compacted);
  if (revision > head) throw futureError(revision, head);
}

export function compactedError(revision: Revision, compacted: Revision): StoreError {
  const message = `Revision ${revision} has been compacted: the oldest that can be read is ${compacted}.`;
  return new StoreError("Compacted", message, { compactRevision: compacted });
}

export function futureError(revision: Revision, head: Revision): StoreError {
  return new StoreError("FutureRevision", `Revision ${revision} does not exist yet: the newest is ${head}.`);
}

export function closedError(): StoreError {
  return new StoreError("Closed", "The store has been closed.");
}

function checkText(text: string, name: string): void {
  if (!text.isWellFormed())
    throw new RangeError(`A ${name} must be well-formed Unicode: ${JSON.stringify(text)} is not.`);
}
