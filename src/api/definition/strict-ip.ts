/**
 * Strict checks of IP addresses and CIDRs for fields that once accepted leading zeros, IPv4-mapped IPv6 addresses and
 * host bits. Existing values may stay.
 */
import { type FieldError, invalid, type Where } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import { type Cidr, checkCidr, checkIp, formatIp, parseCidr, parseIp } from "../machinery/names/ip.ts";

export function checkStrictIp(where: Where, value: string, existing: readonly string[] = []): readonly FieldError[] {
  if (existing.includes(value)) return [];
  const errors = checkIp(where, value);
  if (errors.length > 0) return errors;
  if (hasLeadingZero(value)) return [invalid(where, value, "must not have leading 0s")];
  if (isMapped(value)) return [invalid(where, value, "must not be an IPv4-mapped IPv6 address")];
  return [];
}

export function checkStrictCidr(where: Where, value: string, existing: readonly string[] = []): readonly FieldError[] {
  const errors = checkCidr(where, value);
  const cidr = parseCidr(value);
  if (errors.length > 0 || cidr === undefined || existing.includes(value)) return errors;
  const [address = "", length = ""] = value.split("/");
  if (hasLeadingZero(address) || /^0\d/.test(length)) {
    return [invalid(where, value, "must not have leading 0s in IP or prefix length")];
  }
  if (isMapped(address)) return [invalid(where, value, "must not have an IPv4-mapped IPv6 address")];
  const network = `${formatIp({ bytes: networkBytes(cidr) })}/${cidr.prefixLength}`;
  if (networkBytes(cidr).join() !== cidr.bytes.join()) {
    return [invalid(where, value, `must not have bits set beyond the prefix length: ${goQuote(network)}`)];
  }
  return [];
}

/** The address of an interface with the length of its network's prefix, in canonical form: `10.9.8.7/24`. */
export function checkInterfaceAddress(where: Where, value: string): readonly FieldError[] {
  const cidr = parseCidr(value);
  if (cidr === undefined) {
    return [invalid(where, value, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)")];
  }
  const canonical = `${formatIp(cidr)}/${cidr.prefixLength}`;
  return value === canonical ? [] : [invalid(where, value, `must be in canonical form (${goQuote(canonical)})`)];
}

/** Addresses that cannot be reached from other hosts; endpoints and external IPs must be reachable. */
export function checkReachableIp(where: Where, value: string): readonly FieldError[] {
  const ip = parseIp(value);
  if (ip === undefined) return [invalid(where, value, "must be a valid IP address")];
  const { bytes } = ip;
  const is = (...cidrs: readonly string[]) => cidrs.some((cidr) => within(bytes, cidr));
  const errors: FieldError[] = [];
  if (is("0.0.0.0/32", "::/128")) errors.push(invalid(where, value, `may not be unspecified (${value})`));
  if (is("127.0.0.0/8", "::1/128"))
    errors.push(invalid(where, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  if (is("169.254.0.0/16", "fe80::/10")) {
    errors.push(invalid(where, value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  }
  if (is("224.0.0.0/24", "ff02::/16")) {
    errors.push(invalid(where, value, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
  }
  return errors;
}

export function isIpv6(value: string): boolean {
  return parseIp(value)?.bytes.length === 16;
}

function within(bytes: readonly number[], range: string): boolean {
  const cidr = parseCidr(range);
  if (cidr === undefined || cidr.bytes.length !== bytes.length) return false;
  return networkBytes({ bytes, prefixLength: cidr.prefixLength }).join() === cidr.bytes.join();
}

export function networkBytes({ bytes, prefixLength }: Cidr): readonly number[] {
  return bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, prefixLength - 8 * i))) & 0xff);
}

export function hasLeadingZero(address: string): boolean {
  return (
    address.slice(address.lastIndexOf(":") + 1).includes(".") &&
    /(?:^|[.:])0\d+(?=\.|$)/.test(address.slice(address.lastIndexOf(":") + 1))
  );
}

export function isMapped(address: string): boolean {
  return address.includes(":") && parseIp(address)?.bytes.length === 4;
}
