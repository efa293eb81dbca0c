/** A list of fields that comes in parts: HEADERS and its CONTINUATIONs, which nothing may interrupt. */
import { broken, tooMuch } from "./codes.ts";
import type { Patience } from "./patience.ts";

/** Whoever has many fields sends them in parts as large as they may be. */
const SMALL_PART_BYTES = 1024;

interface Block {
  readonly id: number;
  readonly endStream: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

export interface WholeBlock {
  readonly endStream: boolean;
  readonly bytes: Buffer;
}

export class FieldParts {
  readonly #maxBytes: number;
  readonly #patience: Patience;
  #block: Block | undefined;

  constructor(maxBytes: number, patience: Patience) {
    this.#maxBytes = maxBytes;
    this.#patience = patience;
  }

  /** More of them has to come. */
  get isOpen(): boolean {
    return this.#block !== undefined;
  }

  begin(id: number, endStream: boolean, part: Buffer): void {
    this.#block = { id, endStream, parts: [Buffer.from(part)], bytes: part.length };
  }

  /** The whole, if this was the last one. */
  add(id: number, part: Buffer, isLast: boolean): WholeBlock | undefined {
    const block = this.#block;
    if (block === undefined || block.id !== id) throw broken("a continuation of nothing");
    block.bytes += part.length;
    if (block.bytes > this.#maxBytes) throw tooMuch("fields");
    block.parts.push(Buffer.from(part));
    if (!isLast) {
      // Small parts, or parts of nothing, cost more than they bring.
      if (part.length < SMALL_PART_BYTES && !this.#patience.bears()) throw tooMuch("parts of fields");
      return undefined;
    }
    this.#block = undefined;
    return { endStream: block.endStream, bytes: Buffer.concat(block.parts) };
  }
}
