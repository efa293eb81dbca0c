/** Warnings about IP addresses and CIDRs that are valid, but not in their standard form. */
import type { FieldPath } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import { formatIp, parseCidr, parseIp } from "../machinery/names/ip.ts";
import { hasLeadingZero, isMapped, networkBytes } from "./strict-ip.ts";

export function ipWarnings(text: string, at: FieldPath): readonly string[] {
  const ip = parseIp(text);
  if (ip === undefined) return [];
  const standard = formatIp(ip);
  if (hasLeadingZero(text) || isMapped(text)) return [invalidSoon(at, "IP address", text, standard)];
  return text === standard ? [] : [notCanonical(at, "IPv6 address", text, standard)];
}

export function cidrWarnings(text: string, at: FieldPath): readonly string[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) return [];
  const [address = "", length = ""] = text.split("/");
  const network = `${formatIp({ bytes: networkBytes(cidr) })}/${cidr.prefixLength}`;
  const warnings: string[] = [];
  if (networkBytes(cidr).join() !== cidr.bytes.join()) {
    const single = `${formatIp(cidr)}/${cidr.bytes.length * 8}`;
    const choice = `should be ${goQuote(network)} or ${goQuote(single)}?`;
    warnings.push(`${at}: CIDR value ${goQuote(text)} is ambiguous in this context (${choice})`);
  }
  if (hasLeadingZero(address) || /^0\d/.test(length) || isMapped(address))
    warnings.push(invalidSoon(at, "CIDR value", text, network));
  if (warnings.length > 0 || text === network) return warnings;
  return [notCanonical(at, "IPv6 CIDR value", text, network)];
}

function invalidSoon(at: FieldPath, what: string, text: string, standard: string): string {
  const why = "will be considered invalid in a future Kubernetes release";
  return `${at}: non-standard ${what} ${goQuote(text)} ${why}: use ${goQuote(standard)}`;
}

function notCanonical(at: FieldPath, what: string, text: string, standard: string): string {
  return `${at}: ${what} ${goQuote(text)} should be in RFC 5952 canonical format (${goQuote(standard)})`;
}
