/** IPv4 addresses: those of nodes come from one range, those of Pods from their node's range. */

/** A CIDR range. */
export interface Range {
  readonly first: number;
  readonly size: number;
}

/** Undefined if it is not IPv4. */
export function parseRange(cidr: string): Range | undefined {
  const [, a, b, c, d, bits] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr) ?? [];
  if (bits === undefined) return undefined;
  const size = 2 ** (32 - Number(bits));
  const address = ((Number(a) * 256 + Number(b)) * 256 + Number(c)) * 256 + Number(d);
  return { first: address - (address % size), size };
}

/** The `index`th part of a range that is divided into parts of `size` addresses, a power of two. */
export function partOf(range: Range, index: number, size: number): Range {
  if ((index + 1) * size > range.size)
    throw new RangeError(`part ${index} of ${size} addresses does not fit into ${addressAt(range, 0)}, ${range.size}`);
  return { first: range.first + index * size, size };
}

export function addressAt({ first }: Range, index: number): string {
  const address = first + index;
  return [address / 2 ** 24, address / 2 ** 16, address / 2 ** 8, address]
    .map((part) => Math.floor(part) % 256)
    .join(".");
}

/** The addresses of one range. The network's, the gateway's and the broadcast address are never taken. */
export class AddressPool {
  readonly range: Range;
  readonly #used = new Set<string>();
  #next = 0;

  constructor(range: Range) {
    this.range = range;
  }

  /** Undefined if all are in use. */
  take(): string | undefined {
    const usable = this.range.size - 3;
    for (let tries = 0; tries < usable; tries++) {
      const address = addressAt(this.range, 2 + this.#next);
      this.#next = (this.#next + 1) % usable;
      if (this.#used.has(address)) continue;
      this.#used.add(address);
      return address;
    }
    return undefined;
  }

  reserve(address: string): void {
    this.#used.add(address);
  }

  release(address: string): void {
    this.#used.delete(address);
  }
}
