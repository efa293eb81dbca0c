/** Names of devices, requests, pools, drivers, attributes and capacities. */
import { csiDriverNameFaults } from "../core/index.ts";
import { fits } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import {
  checkCIdentifier,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
} from "../machinery/names/names.ts";

const longestPoolName = 253;
const longestDomain = 63;
const longestId = 32;
/** `domain/id`. */
export const longestQualifiedName = longestDomain + 1 + longestId;

/** The same rule as for the names of CSI drivers. */
export const driverNameFaults: (name: string, at: FieldPath) => readonly FieldError[] = csiDriverNameFaults;

/** A DNS label: devices, requests, counters. */
export function labelFaults(name: string, at: FieldPath): readonly FieldError[] {
  return fits(checkDns1123Label, name, at);
}

export function labelKeyFaults(key: string, at: FieldPath): readonly FieldError[] {
  return fits(checkQualifiedName, key, at);
}

export function labelValueFaults(value: string, at: FieldPath): readonly FieldError[] {
  return fits(checkLabelValue, value, at);
}

export function deviceClassNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  return name === "" ? [required(at)] : fits(checkDns1123Subdomain, name, at);
}

/** One or more DNS subdomains, separated by slashes. */
export function poolNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  if (name === "") return [required(at)];
  const errors = name.length > longestPoolName ? [tooLong(at, longestPoolName)] : [];
  return [...errors, ...name.split("/").flatMap((part) => fits(checkDns1123Subdomain, part, at))];
}

/** An attribute or a capacity: an identifier, with or without a domain. */
export function qualifiedNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  const parts = name.split("/");
  const [first = "", second] = parts;
  if (second === undefined) return identifierFaults(first, at);
  if (parts.length > 2) return [invalid(at, name, "must not contain more than one slash")];
  return [
    ...(first === "" ? [invalid(at, "", "the domain must not be empty")] : driverNameFaults(first, at)),
    ...(second === "" ? [invalid(at, "", "the name must not be empty")] : identifierFaults(second, at)),
  ];
}

export function fullyQualifiedNameFaults(name: string, at: FieldPath): readonly FieldError[] {
  const errors = qualifiedNameFaults(name, at);
  if (name.includes("/")) return errors;
  return [...errors, invalid(at, name, "a fully qualified name must be a domain and a name separated by a slash")];
}

function identifierFaults(id: string, at: FieldPath): readonly FieldError[] {
  const errors = fits(checkCIdentifier, id, at);
  return id.length > longestId ? [tooLong(at, longestId), ...errors] : errors;
}

const uid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function uidFaults(text: string, at: FieldPath): readonly FieldError[] {
  if (uid.test(text)) return NO_ERRORS;
  const form =
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
  return [invalid(at, text, uidFault(text) ?? form)];
}

/** Why a text is not a UUID in any of its forms: plain, with a URN prefix, in braces, without hyphens. */
function uidFault(text: string): string | undefined {
  const plain = plainUid(text);
  if (typeof plain !== "string") return `error validating uid: ${plain.why}`;
  return /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/.test(plain)
    ? undefined
    : "error validating uid: invalid UUID format";
}

function plainUid(text: string): string | { readonly why: string } {
  switch (text.length) {
    case 32:
    case 36:
      return text;
    case 45:
      return text.slice(0, 9).toLowerCase() === "urn:uuid:"
        ? text.slice(9)
        : { why: `invalid urn prefix: "${text.slice(0, 9)}"` };
    case 38:
      return text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : { why: "invalid bracketed UUID format" };
    default:
      return { why: `invalid UUID length: ${text.length}` };
  }
}
