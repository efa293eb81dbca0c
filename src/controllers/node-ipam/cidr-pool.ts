/**
 * The blocks of one size in a CIDR, with a count of uses for each.
 *
 * 1. The search for a free block begins after the last one given out: a block that was just freed is reused last.
 * 2. An occupied CIDR may be larger or smaller than a block: it occupies every block that it overlaps.
 * 3. A block may be occupied several times; it is free after the same number of releases.
 */
import { type Cidr, formatIp, parseCidr } from "#api";

/** The limit of Kubernetes; it bounds memory. */
const MAX_BLOCK_BITS = 16;

export class CidrPoolError extends Error {}

export class CidrPool {
  /** Address bits: 32 or 128. */
  readonly #width: number;
  readonly #base: bigint;
  readonly #blockPrefix: number;
  readonly #count: number;
  readonly #taken: Uint8Array;
  readonly #shared = new Map<number, number>();
  #next = 0;

  constructor(cidr: string, blockPrefix: number) {
    const range = parseCidr(cidr);
    if (range === undefined) throw new CidrPoolError(`${cidr} is not a CIDR`);
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

  /** Occupies a free block; undefined if there is none. */
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

  /** Occupies all blocks that the CIDR overlaps; false if there are none. */
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

/** The network address of the CIDR. */
function startOf({ bytes, prefixLength }: Cidr): bigint {
  const address = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const rest = BigInt(bytes.length * 8 - prefixLength);
  return (address >> rest) << rest;
}
