/**
 * A field block in several frames: HEADERS and its CONTINUATIONs, with no other frame in between. It takes at most
 * twice its size, however small its parts are.
 */

import { GrowingBytes } from "#base";
import type { AbuseBudget } from "./abuse-budget.ts";
import { broken, tooMuch } from "./codes.ts";

/** Honest clients with many fields send large parts. */
const SMALL_PART_BYTES = 1024;

interface Block {
  readonly id: number;
  readonly endStream: boolean;
  readonly bytes: GrowingBytes;
}

export interface WholeBlock {
  readonly endStream: boolean;
  readonly bytes: Buffer;
}

export class FieldParts {
  readonly #maxBytes: number;
  readonly #abuse: AbuseBudget;
  #block: Block | undefined;

  constructor(maxBytes: number, abuse: AbuseBudget) {
    this.#maxBytes = maxBytes;
    this.#abuse = abuse;
  }

  /** CONTINUATION has to follow. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  begin(id: number, endStream: boolean, part: Buffer): void {
    this.#block = { id, endStream, bytes: new GrowingBytes() };
    this.#block.bytes.append(part);
  }

  /** The whole block, if this was its last part. */
  add(id: number, part: Buffer, isLast: boolean): WholeBlock | undefined {
    const block = this.#block;
    if (block === undefined || block.id !== id) throw broken("CONTINUATION without HEADERS");
    if (block.bytes.length + part.length > this.#maxBytes) {
      this.#block = undefined;
      throw tooMuch("a field block is too large");
    }
    block.bytes.append(part);
    if (!isLast) {
      // Many small or empty parts are abuse.
      if (part.length < SMALL_PART_BYTES && !this.#abuse.take()) throw tooMuch("too many small CONTINUATION frames");
      return undefined;
    }
    this.#block = undefined;
    return { endStream: block.endStream, bytes: block.bytes.bytes() };
  }
}
