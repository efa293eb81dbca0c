/**
 * The blocks of one size that a range of addresses consists of, and which of them are taken: a bit for each.
 *
 * 1. The next free block is looked for after the last one given: a block that was just freed is given again last.
 * 2. A range that is taken may be larger or smaller than a block: every block that it touches is taken.
 * 3. A block is taken as often as it was taken, and free when it was freed as often.
 */
import { type Cidr, formatIp, parseCidr } from "#api";

/** More would be a map of more than 8 KiB; no cluster has as many nodes. */
const MAX_BLOCK_BITS = 16;

export class CidrPoolError extends Error {}

export class CidrPool {
  /** Of the range: 32 or 128. */
  readonly #width: number;
  readonly #base: bigint;
  readonly #blockPrefix: number;
  readonly #count: number;
  readonly #taken: Uint8Array;
  readonly #shared = new Map<number, number>();
  #next = 0;

  constructor(cidr: string, blockPrefix: number) {
    const range = parseCidr(cidr);
    if (range === undefined) throw new CidrPoolError(`${cidr} is no range of addresses`);
    const bits = blockPrefix - range.prefixLength;
    if (bits < 0 || blockPrefix > range.bytes.length * 8)
      throw new CidrPoolError(`blocks of size /${blockPrefix} do not fit into ${cidr}`);
    if (bits > MAX_BLOCK_BITS) throw new CidrPoolError(`${cidr} has too many blocks of size /${blockPrefix}`);
    this.#width = range.bytes.length * 8;
    this.#base = startOf(range);
    this.#blockPrefix = blockPrefix;
    this.#count = 2 ** bits;
    this.#taken = new Uint8Array(Math.ceil(this.#count / 8));
  }

  get size(): number {
    return this.#count;
  }

  /** Takes a free block; undefined if there is none. */
  takeNext(): string | undefined {
    for (let tried = 0; tried < this.#count; tried++) {
      const at = (this.#next + tried) % this.#count;
      if (this.#has(at)) continue;
      this.#take(at);
      this.#next = (at + 1) % this.#count;
      return this.#block(at);
    }
    return undefined;
  }

  /** Takes all blocks that the range touches; false if it touches none. */
  take(cidr: string): boolean {
    const blocks = this.#blocksOf(cidr);
    for (const at of blocks) this.#take(at);
    return blocks.length > 0;
  }

  free(cidr: string): void {
    for (const at of this.#blocksOf(cidr)) this.#free(at);
  }

  #blocksOf(cidr: string): readonly number[] {
    const range = parseCidr(cidr);
    if (range === undefined || range.bytes.length * 8 !== this.#width) return [];
    const shift = BigInt(this.#width - this.#blockPrefix);
    const first = startOf(range) - this.#base;
    const last = first + (1n << BigInt(this.#width - range.prefixLength)) - 1n;
    const from = Math.max(0, Number(first >> shift));
    const to = Math.min(this.#count - 1, Number(last >> shift));
    return from > to ? [] : Array.from({ length: to - from + 1 }, (_, at) => from + at);
  }

  #block(at: number): string {
    const start = this.#base + (BigInt(at) << BigInt(this.#width - this.#blockPrefix));
    const bytes = Array.from({ length: this.#width / 8 }, (_, i) =>
      Number((start >> BigInt(this.#width - 8 - 8 * i)) & 0xffn),
    );
    return `${formatIp({ bytes })}/${this.#blockPrefix}`;
  }

  #has(at: number): boolean {
    return ((this.#taken[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  #take(at: number): void {
    if (this.#has(at)) this.#shared.set(at, (this.#shared.get(at) ?? 0) + 1);
    this.#taken[at >> 3] = (this.#taken[at >> 3] ?? 0) | (1 << (at & 7));
  }

  #free(at: number): void {
    const more = this.#shared.get(at) ?? 0;
    if (more > 1) this.#shared.set(at, more - 1);
    else if (more === 1) this.#shared.delete(at);
    else this.#taken[at >> 3] = (this.#taken[at >> 3] ?? 0) & ~(1 << (at & 7));
  }
}

/** Of the network, whatever address in it was named. */
function startOf({ bytes, prefixLength }: Cidr): bigint {
  const address = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const rest = BigInt(bytes.length * 8 - prefixLength);
  return (address >> rest) << rest;
}
