/** Semantic versions, as strict as semver.org, with the error messages of Kubernetes. */
import { goQuote } from "../../json/go-text.ts";

export interface SemanticVersion {
  /** Each within 64 bits unsigned. */
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** A bigint for a numeric identifier. */
  readonly preRelease: readonly (bigint | string)[];
  readonly build: readonly string[];
}

export class SemanticVersionError extends Error {
  override readonly name = "SemanticVersionError";
}

const largest = 2n ** 64n - 1n;

export function parseSemanticVersion(text: string): SemanticVersion {
  if (text === "") return fail("Version string empty");
  const [, majorText = "", minorText = "", rest] = /^([^.]*)\.([^.]*)\.([\s\S]*)$/.exec(text) ?? [];
  if (rest === undefined) return fail("No Major.Minor.Patch elements found");
  const major = numberOf(majorText, "major");
  const minor = numberOf(minorText, "minor");
  const [beforeBuild, build] = cut(rest, "+");
  const [patchText, preRelease] = cut(beforeBuild, "-");
  const patch = numberOf(patchText, "patch");
  return {
    major,
    minor,
    patch,
    preRelease: preRelease?.split(".").map(preReleaseOf) ?? [],
    build: build?.split(".").map(buildOf) ?? [],
  };
}

/** Without a leading `v`, with missing numbers added, without leading zeros. */
export function normalizedVersion(text: string): string {
  const bare = text.startsWith("v") ? text.slice(1) : text;
  const [, ...found] = /^([^.]*)(?:\.([^.]*)(?:\.([\s\S]*))?)?$/.exec(bare) ?? [];
  const parts = found.filter((part) => part !== undefined).map(withoutLeadingZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? ""))
    return fail("short version cannot contain PreRelease/Build meta data");
  while (parts.length < 3) parts.push("0");
  return parts.join(".");
}

/** Build metadata does not count. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): -1 | 0 | 1 {
  for (const part of ["major", "minor", "patch"] as const) if (a[part] !== b[part]) return a[part] > b[part] ? 1 : -1;
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Math.sign(b.preRelease.length - a.preRelease.length) as -1 | 0 | 1;
  for (const [index, mine] of a.preRelease.entries()) {
    const other = b.preRelease[index];
    if (other === undefined) return 1;
    if (mine === other) continue;
    if (typeof mine !== typeof other) return typeof mine === "bigint" ? -1 : 1;
    return mine > other ? 1 : -1;
  }
  return a.preRelease.length < b.preRelease.length ? -1 : 0;
}

function numberOf(digits: string, what: "major" | "minor" | "patch"): bigint {
  if (!/^\d*$/.test(digits)) fail(`Invalid character(s) found in ${what} number ${goQuote(digits)}`);
  if (hasLeadingZero(digits))
    fail(`${what.charAt(0).toUpperCase()}${what.slice(1)} number must not contain leading zeroes ${goQuote(digits)}`);
  return unsigned(digits);
}

function preReleaseOf(text: string): bigint | string {
  if (text === "") return fail("Prerelease is empty");
  if (/^\d+$/.test(text)) {
    if (hasLeadingZero(text)) fail(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`);
    return unsigned(text);
  }
  return /^[a-zA-Z0-9-]+$/.test(text) ? text : fail(`Invalid character(s) found in prerelease ${goQuote(text)}`);
}

function buildOf(text: string): string {
  if (text === "") return fail("Build meta data is empty");
  return /^[a-zA-Z0-9-]+$/.test(text) ? text : fail(`Invalid character(s) found in build meta data ${goQuote(text)}`);
}

function unsigned(digits: string): bigint {
  if (digits === "") return fail(`strconv.ParseUint: parsing "": invalid syntax`);
  // At most twenty digits can fit: longer ones are not converted.
  const value = digits.length > 20 ? largest + 1n : BigInt(digits);
  return value > largest ? fail(`strconv.ParseUint: parsing ${goQuote(digits)}: value out of range`) : value;
}

function withoutLeadingZeros(part: string): string {
  if (part.length < 2) return part;
  const rest = part.replace(/^0+/, "");
  return /^\d/.test(rest) ? rest : `0${rest}`;
}

function hasLeadingZero(digits: string): boolean {
  return digits.length > 1 && digits.startsWith("0");
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function fail(message: string): never {
  throw new SemanticVersionError(message);
}
