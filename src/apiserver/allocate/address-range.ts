/** A CIDR as numbered places: the address of a place, the place of an address. */
import { type Cidr, contains, formatIp, type Ip, type IpFamily, parseCidr, parseIp } from "#api";
import { addressBands, lowerBand } from "./bands.ts";

/** Of larger (IPv6) ranges only so many addresses are used. */
const MAX_PLACES = 2 ** 48;

export interface AddressRange {
  readonly cidr: string;
  readonly family: IpFamily;
  readonly prefixLength: number;
  /** The places that may be handed out: 0 is the network address, and the last IPv4 address is for broadcasts. */
  readonly first: number;
  readonly last: number;
  /** Where the upper band starts. */
  readonly upper: number;
  addressOf(place: number): string;
  /** Undefined: the address belongs to another network. */
  placeOf(address: string): number | undefined;
}

export function addressRange(text: string): AddressRange | undefined {
  const parsed = parseCidr(text);
  if (parsed === undefined) return undefined;
  const base = masked(parsed);
  const bits = parsed.bytes.length * 8 - parsed.prefixLength;
  const size = bits >= 48 ? MAX_PLACES : 2 ** bits;
  const isV4 = parsed.bytes.length === 4;
  return {
    cidr: `${formatIp(base)}/${parsed.prefixLength}`,
    family: isV4 ? "IPv4" : "IPv6",
    prefixLength: parsed.prefixLength,
    first: 1,
    last: size - (isV4 ? 2 : 1),
    upper: lowerBand(size, addressBands),
    addressOf: (place) => formatIp(plus(base, place)),
    placeOf: (address) => {
      const ip = parseIp(address);
      return ip !== undefined && contains(parsed, ip) ? distance(base, ip) : undefined;
    },
  };
}

function masked({ bytes, prefixLength }: Cidr): Ip {
  return {
    bytes: bytes.map((byte, i) => {
      const kept = Math.min(8, Math.max(0, prefixLength - i * 8));
      return byte & (0xff << (8 - kept)) & 0xff;
    }),
  };
}

function plus({ bytes }: Ip, offset: number): Ip {
  const sum = [...bytes];
  for (let i = sum.length - 1, left = offset; i >= 0 && left > 0; i--) {
    const value = (sum[i] ?? 0) + (left % 256);
    sum[i] = value % 256;
    left = Math.floor(left / 256) + (value > 255 ? 1 : 0);
  }
  return { bytes: sum };
}

/** Exact up to 2^53; places end at 2^48. */
function distance({ bytes: base }: Ip, { bytes }: Ip): number {
  return bytes.reduce((sum, byte, i) => sum * 256 + byte - (base[i] ?? 0), 0);
}
