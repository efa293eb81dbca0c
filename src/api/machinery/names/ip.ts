/** IP addresses and CIDRs as the API accepts them: IPv4 octets may have leading zeros, for compatibility. */
import { type FieldError, invalid, type Where } from "../errors/field-error.ts";

export interface Ip {
  /** 4 or 16 bytes; an IPv4-mapped IPv6 address has 4. */
  readonly bytes: readonly number[];
}

export interface Cidr extends Ip {
  readonly prefixLength: number;
}

export function parseIp(text: string): Ip | undefined {
  const bytes = text.includes(":") ? ipv6Bytes(text) : ipv4Bytes(text);
  if (bytes === undefined) return undefined;
  return { bytes: isMapped(bytes) ? bytes.slice(12) : bytes };
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (ip === undefined || !/^\d{1,3}$/.test(length)) return undefined;
  const mapped = ip.bytes.length === 4 && text.includes(":");
  const prefixLength = Number(length) - (mapped ? 96 : 0);
  return prefixLength >= 0 && prefixLength <= ip.bytes.length * 8 ? { ...ip, prefixLength } : undefined;
}

/** The shortest form of RFC 5952. */
export function formatIp({ bytes }: Ip): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  const runs = [...groups.join(":").matchAll(/\b0(?::0\b)+/g)].sort((a, b) => b[0].length - a[0].length);
  const longest = runs[0];
  if (longest === undefined) return groups.join(":");
  const text = groups.join(":");
  const before = text.slice(0, longest.index).replace(/:$/, "");
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}

/** Whether the address lies in the range. */
export function contains(range: Cidr, ip: Ip): boolean {
  if (range.bytes.length !== ip.bytes.length) return false;
  for (let bit = 0; bit < range.prefixLength; bit += 8) {
    const shift = Math.max(0, 8 - (range.prefixLength - bit));
    if ((range.bytes[bit / 8] ?? 0) >> shift !== (ip.bytes[bit / 8] ?? 0) >> shift) return false;
  }
  return true;
}

export function checkIp(where: Where, value: string): readonly FieldError[] {
  return parseIp(value) ? [] : [invalid(where, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")];
}

export function checkIpv4(where: Where, value: string): readonly FieldError[] {
  return parseIp(value)?.bytes.length === 4 ? [] : [invalid(where, value, "must be a valid IPv4 address")];
}

export function checkIpv6(where: Where, value: string): readonly FieldError[] {
  return parseIp(value)?.bytes.length === 16 ? [] : [invalid(where, value, "must be a valid IPv6 address")];
}

export function checkCidr(where: Where, value: string): readonly FieldError[] {
  return parseCidr(value)
    ? []
    : [invalid(where, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
}

function ipv4Bytes(text: string): number[] | undefined {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function ipv6Bytes(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const parts = halves.map((half, i) => groupBytes(half, i === halves.length - 1));
  const [head, tail] = parts;
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 16 - head.length - (tail?.length ?? 0);
  if (halves.length === 1) return missing === 0 ? head : undefined;
  return missing >= 2 ? [...head, ...Array<number>(missing).fill(0), ...(tail ?? [])] : undefined;
}

/** Groups of four hexadecimal digits; the last may be an IPv4 address. */
function groupBytes(half: string, last: boolean): number[] | undefined {
  if (half === "") return [];
  const bytes: number[] = [];
  const groups = half.split(":");
  for (const [i, group] of groups.entries()) {
    if (group.includes(".")) {
      const v4 = last && i === groups.length - 1 ? ipv4Bytes(group) : undefined;
      if (v4 === undefined) return undefined;
      bytes.push(...v4);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes.length <= 16 ? bytes : undefined;
}

function isMapped(bytes: readonly number[]): boolean {
  return (
    bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  );
}
