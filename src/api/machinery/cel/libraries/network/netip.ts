/**
 * IP addresses and prefixes as strict as Go's net/netip, with its error messages.
 *
 * 1. No leading zeros, unlike in names/ip.ts, where API fields accept them for compatibility.
 * 2. A zone is parsed and kept, so that callers can refuse it.
 */
import { goQuote } from "../../../json/go-text.ts";
import type { Cidr, Ip } from "../../../names/ip.ts";

export interface Address extends Ip {
  /** What follows `%`; empty if there is no zone. */
  readonly zone: string;
}

export class AddressError extends Error {
  override readonly name = "AddressError";
}

export function parseAddress(text: string): Address {
  const first = /[.:%]/.exec(text)?.[0];
  if (first === ".") return { bytes: ipv4(text, text), zone: "" };
  if (first === ":") return ipv6(text);
  return refuse(text, first === "%" ? "missing IPv6 address" : "unable to parse IP");
}

export function parsePrefix(text: string): Cidr {
  const fail = (why: string): never => {
    throw new AddressError(`netip.ParsePrefix(${goQuote(text)}): ${why}`);
  };
  const slash = text.lastIndexOf("/");
  if (slash < 0) return fail("no '/'");
  let address: Address;
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    if (error instanceof AddressError) return fail(error.message);
    throw error;
  }
  if (address.zone !== "") return fail("IPv6 zones cannot be present in a prefix");
  const bits = text.slice(slash + 1);
  // Longer numbers are a syntax error only where they would not fit 64 bits; they are refused either way.
  if (!/^(?:\d|[1-9]\d{1,17})$/.test(bits)) return fail(`bad bits after slash: ${goQuote(bits)}`);
  const prefixLength = Number(bits);
  if (prefixLength > address.bytes.length * 8) return fail("prefix length out of range");
  return { bytes: address.bytes, prefixLength };
}

/** Whether it is an IPv4-mapped IPv6 address: `::ffff:1.2.3.4`. */
export function isMapped({ bytes }: Ip): boolean {
  return (
    bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  );
}

/** The prefix with all bits beyond its length cleared. */
export function masked({ bytes, prefixLength }: Cidr): Cidr {
  return {
    prefixLength,
    bytes: bytes.map((byte, index) => byte & (0xff << Math.min(8, Math.max(0, 8 * (index + 1) - prefixLength)))),
  };
}

export function sameBytes(a: Ip, b: Ip): boolean {
  return a.bytes.length === b.bytes.length && a.bytes.every((byte, index) => byte === b.bytes[index]);
}

export function isUnspecified({ bytes }: Ip): boolean {
  return bytes.every((byte) => byte === 0);
}

export function isLoopback({ bytes }: Ip): boolean {
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

export function isMulticast({ bytes: [first = 0, ...rest] }: Ip): boolean {
  return rest.length === 3 ? first >> 4 === 0xe : first === 0xff;
}

export function isLinkLocalMulticast({ bytes: [first, second = 0, third, ...rest] }: Ip): boolean {
  return rest.length === 1 ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0xf) === 2;
}

export function isLinkLocalUnicast({ bytes: [first, second = 0, ...rest] }: Ip): boolean {
  return rest.length === 2 ? first === 169 && second === 254 : first === 0xfe && second >> 6 === 2;
}

export function isGlobalUnicast(ip: Ip): boolean {
  if (ip.bytes.length === 4 && ip.bytes.every((byte) => byte === 255)) return false;
  return !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);
}

function refuse(text: string, why: string, at = ""): never {
  throw new AddressError(`ParseAddr(${goQuote(text)}): ${why}${at === "" ? "" : ` (at ${goQuote(at)})`}`);
}

/** Parses `text`; messages show `whole`. */
function ipv4(text: string, whole: string): number[] {
  const bytes: number[] = [];
  let digits = 0;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char >= "0" && char <= "9") {
      if (digits === 1 && value === 0) refuse(whole, "IPv4 field has octet with leading zero");
      value = value * 10 + Number(char);
      digits++;
      if (value > 255) refuse(whole, "IPv4 field has value >255");
    } else if (char === ".") {
      if (i === 0 || i === text.length - 1 || text[i - 1] === ".")
        refuse(whole, "IPv4 field must have at least one digit", text.slice(i));
      if (bytes.length === 3) refuse(whole, "IPv4 address too long");
      bytes.push(value);
      value = digits = 0;
    } else {
      refuse(whole, "unexpected character", text.slice(i));
    }
  }
  if (bytes.length < 3) refuse(whole, "IPv4 address too short");
  return [...bytes, value];
}

function ipv6(whole: string): Address {
  const percent = whole.indexOf("%");
  const zone = percent < 0 ? "" : whole.slice(percent + 1);
  let rest = percent < 0 ? whole : whole.slice(0, percent);
  if (percent >= 0 && zone === "") refuse(whole, "zone must be a non-empty string");
  const bytes: number[] = [];
  let gap = -1;
  if (rest.startsWith("::")) {
    gap = 0;
    rest = rest.slice(2);
  }
  while (bytes.length < 16 && !(rest === "" && gap === bytes.length)) {
    const group = /^[0-9a-fA-F]*/.exec(rest.slice(0, 5))?.[0] ?? "";
    if (group.length > 4) refuse(whole, "each group must have 4 or less digits", rest);
    if (group === "") refuse(whole, "each colon-separated field must have at least one digit", rest);
    if (rest[group.length] === ".") {
      if (gap < 0 && bytes.length !== 12)
        refuse(whole, "embedded IPv4 address must replace the final 2 fields of the address", rest);
      if (bytes.length > 12)
        refuse(whole, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      bytes.push(...ipv4(rest, whole));
      rest = "";
      break;
    }
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 255);
    rest = rest.slice(group.length);
    if (rest === "") break;
    if (rest[0] !== ":") refuse(whole, "unexpected character, want colon", rest);
    if (rest.length === 1) refuse(whole, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest[0] === ":") {
      if (gap >= 0) refuse(whole, "multiple :: in address", rest);
      gap = bytes.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") refuse(whole, "trailing garbage after address", rest);
  if (bytes.length === 16) {
    if (gap >= 0) refuse(whole, "the :: must expand to at least one field of zeros");
  } else {
    if (gap < 0) refuse(whole, "address string too short");
    bytes.splice(gap, 0, ...Array<number>(16 - bytes.length).fill(0));
  }
  return { bytes, zone };
}
