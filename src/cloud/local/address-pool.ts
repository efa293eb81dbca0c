/**
 * A pool of addresses, each with at most one owner.
 *
 * 1. An owner keeps its addresses. A request for a certain address gets that one or nothing.
 * 2. The lowest free address is given out first.
 */
import { formatIp, type Ip, parseCidr, parseIp } from "#api";

export type Family = "IPv4" | "IPv6";

interface Range {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export class AddressPoolError extends Error {
  override readonly name = "AddressPoolError";
}

export class AddressPool {
  readonly #ranges: readonly Range[];
  readonly #owners = new Map<string, string>();

  /** `192.0.2.0/28`, `192.0.2.10-192.0.2.20` or one address. Throws AddressPoolError otherwise. */
  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.map(rangeOf);
  }

  has(family: Family): boolean {
    return this.#ranges.some((range) => range.family === family);
  }

  ownerOf(address: string): string | undefined {
    return this.#owners.get(address);
  }

  addressesOf(owner: string): string[] {
    return [...this.#owners].filter(([, each]) => each === owner).map(([address]) => address);
  }

  /** False if the address is not in the pool, or has another owner. */
  claim(owner: string, address: string): boolean {
    const ip = parseIp(address);
    if (ip === undefined || !this.#ranges.some((range) => isIn(range, ip))) return false;
    const key = formatIp(ip);
    const known = this.#owners.get(key);
    if (known !== undefined) return known === owner;
    this.#owners.set(key, owner);
    return true;
  }

  /** Undefined if none is left. */
  take(owner: string, family: Family): string | undefined {
    for (const range of this.#ranges) {
      if (range.family !== family) continue;
      for (let at = range.first; at <= range.last; at++) {
        const address = textOf(at, family);
        if (this.#owners.has(address)) continue;
        this.#owners.set(address, owner);
        return address;
      }
    }
    return undefined;
  }

  release(address: string): void {
    this.#owners.delete(address);
  }
}

function rangeOf(text: string): Range {
  const [from = "", to] = text.split("-").map((part) => part.trim());
  const cidr = to === undefined && from.includes("/") ? parseCidr(from) : undefined;
  if (cidr !== undefined) return cidrRange(cidr.bytes, cidr.prefixLength);
  const [first, last] = [parseIp(from), parseIp(to ?? from)];
  if (first === undefined || last === undefined || first.bytes.length !== last.bytes.length)
    throw new AddressPoolError(`${text} is not an address range such as 192.0.2.0/28 or 192.0.2.10-192.0.2.20`);
  const range = { family: familyOf(first), first: numberOf(first), last: numberOf(last) };
  if (range.first > range.last) throw new AddressPoolError(`${text} ends before it begins`);
  return range;
}

/** Without the network and the broadcast address of IPv4, if there are enough others. */
function cidrRange(bytes: readonly number[], prefixLength: number): Range {
  const bits = BigInt(bytes.length * 8 - prefixLength);
  const first = (numberOf({ bytes }) >> bits) << bits;
  const last = first + (1n << bits) - 1n;
  const family = familyOf({ bytes });
  return family === "IPv4" && bits > 1n ? { family, first: first + 1n, last: last - 1n } : { family, first, last };
}

function isIn({ family, first, last }: Range, ip: Ip): boolean {
  const number = numberOf(ip);
  return family === familyOf(ip) && number >= first && number <= last;
}

function familyOf({ bytes }: Ip): Family {
  return bytes.length === 4 ? "IPv4" : "IPv6";
}

function numberOf({ bytes }: Ip): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function textOf(number: bigint, family: Family): string {
  const bytes = Array.from({ length: family === "IPv4" ? 4 : 16 }, (_, at, length = family === "IPv4" ? 4 : 16) =>
    Number((number >> BigInt(8 * (length - 1 - at))) & 0xffn),
  );
  return formatIp({ bytes });
}
