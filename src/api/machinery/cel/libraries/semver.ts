/** `semver`, `isSemver` and functions of versions. */

import { nominal, walk } from "../functions/call-costs.ts";
import { range } from "../functions/cost.ts";
import { fn, global, type Library, member } from "../functions/function.ts";
import { bool, int, opaque, string } from "../values/type.ts";
import { CelError, Opaque } from "../values/value.ts";
import {
  compareVersions,
  normalizedVersion,
  parseSemanticVersion,
  type SemanticVersion,
  SemanticVersionError,
} from "./semantic-version.ts";

export const semverType = opaque("kubernetes.Semver");

export class SemverValue extends Opaque {
  override readonly type = semverType;
  readonly version: SemanticVersion;

  constructor(version: SemanticVersion) {
    super();
    this.version = version;
  }

  override equals(other: Opaque): boolean {
    return other instanceof SemverValue && order(this, other) === 0;
  }
}

export const semver: Library = {
  name: "kubernetes.Semver",
  types: [{ type: semverType, equality: () => range(1) }],
  functions: [
    fn(
      "semver",
      global("string_to_semver", [string], semverType, (text: string) => toSemver(text, false), walk()),
      global(
        "string_bool_to_semver",
        [string, bool],
        semverType,
        (text: string, normalize: boolean) => toSemver(text, normalize),
        walk(),
      ),
    ),
    fn(
      "isSemver",
      global("is_semver_string", [string], bool, (text: string) => isSemver(text, false), walk()),
      global("is_semver_string_bool", [string, bool], bool, isSemver, walk()),
    ),
    number("major"),
    number("minor"),
    number("patch"),
    fn(
      "isGreaterThan",
      member(
        "semver_is_greater_than",
        [semverType, semverType],
        bool,
        (a: SemverValue, b: SemverValue) => order(a, b) > 0,
        nominal,
      ),
    ),
    fn(
      "isLessThan",
      member(
        "semver_is_less_than",
        [semverType, semverType],
        bool,
        (a: SemverValue, b: SemverValue) => order(a, b) < 0,
        nominal,
      ),
    ),
    fn(
      "compareTo",
      member(
        "semver_compare_to",
        [semverType, semverType],
        int,
        (a: SemverValue, b: SemverValue) => BigInt(order(a, b)),
        nominal,
      ),
    ),
  ],
};

export function toSemver(text: string, normalize = false): SemverValue | CelError {
  try {
    return new SemverValue(parseSemanticVersion(normalize ? normalizedVersion(text) : text));
  } catch (error) {
    if (error instanceof SemanticVersionError) return new CelError(error.message);
    throw error;
  }
}

function isSemver(text: string, normalize: boolean): boolean {
  return !(toSemver(text, normalize) instanceof CelError);
}

/** A number that does not fit 63 bits becomes negative, as in Kubernetes. */
function number(part: "major" | "minor" | "patch") {
  return fn(
    part,
    member(
      `semver_${part}`,
      [semverType],
      int,
      ({ version }: SemverValue) => BigInt.asIntN(64, version[part]),
      nominal,
    ),
  );
}

function order(a: SemverValue, b: SemverValue): number {
  return compareVersions(a.version, b.version);
}
