/**
 * `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`: whether they are consistent, and how they may change.
 */

import { checkStrictIp, isIpv6 } from "../../definition/strict-ip.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import type { Service } from "../../types/core-v1.ts";
import { isHeadless } from "./needs.ts";

const knownFamilies = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

export function validateClusterIPs(service: Service, old: Service | undefined, path: FieldPath): readonly FieldError[] {
  const { spec = {} } = service;
  if (spec.type === "ExternalName") return [];
  const where = path.child("spec", "clusterIPs");
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP === "" && clusterIPs.length > 0) {
    errors.push(invalid(where, clusterIPs, "must be empty when `clusterIP` is not specified"));
  } else if (clusterIP !== "" && clusterIPs.length === 0) {
    errors.push(required(where));
  } else if (clusterIPs[0] !== undefined && clusterIPs[0] !== clusterIP) {
    errors.push(invalid(where, clusterIPs, "first value must match `clusterIP`"));
  }
  for (const [i, family] of ipFamilies.entries()) {
    const at = path.child("spec", "ipFamilies").index(i);
    if (!knownFamilies.includes(family)) errors.push(notSupported(at, family, knownFamilies));
    if (ipFamilies.indexOf(family) < i) errors.push(duplicate(at, family));
  }
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) {
    errors.push(notSupported(path.child("spec", "ipFamilyPolicy"), ipFamilyPolicy, policies));
  }
  const malformed = addressFaults(clusterIPs, old?.spec?.clusterIPs ?? [], where);
  errors.push(...malformed);
  if (clusterIPs.length > 2) errors.push(invalid(where, clusterIPs, "may only hold up to 2 values"));
  if (malformed.length > 0) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(isIpv6)).size < 2) {
    errors.push(invalid(where, clusterIPs, "may specify no more than one IP for each IP family"));
  }
  return errors.length > 0 || isHeadless(service) ? errors : familyMismatches(clusterIPs, ipFamilies, where);
}

/** Addresses and families cannot change once set; a second one may be added, or removed together with the policy. */
export function validateClusterIPChange(next: Service, old: Service, path: FieldPath): readonly FieldError[] {
  if (next.spec?.type === "ExternalName" || old.spec?.type === "ExternalName") return [];
  if (isHeadless(next) && isHeadless(old)) return [];
  return [
    ...listChange("clusterIPs", "clusterIP", next, old, path),
    ...listChange("ipFamilies", "ipFamily", next, old, path),
  ];
}

function listChange(
  field: "clusterIPs" | "ipFamilies",
  one: string,
  next: Service,
  old: Service,
  path: FieldPath,
): readonly FieldError[] {
  const before: readonly string[] = old.spec?.[field] ?? [];
  const after: readonly string[] = next.spec?.[field] ?? [];
  const where = path.child("spec", field);
  const changed = (i: number) => invalid(where.index(field === "ipFamilies" ? 0 : i), after, "may not change once set");
  if (before.length === after.length) return before.flatMap((value, i) => (value === after[i] ? [] : [changed(i)]));
  const errors: FieldError[] = [];
  if (after.length === 0) errors.push(invalid(where.index(0), after, `primary ${one} can not be unset`));
  if (before.length > 0 && after.length > 0 && before[0] !== after[0]) errors.push(changed(0));
  if (before.length > after.length && after.length === 1 && next.spec?.ipFamilyPolicy !== "SingleStack") {
    const why = `must be set to 'SingleStack' when releasing the secondary ${one}`;
    errors.push(invalid(path.child("spec", "ipFamilyPolicy"), next.spec?.ipFamilyPolicy ?? null, why));
  }
  return errors;
}

function addressFaults(ips: readonly string[], existing: readonly string[], where: FieldPath): readonly FieldError[] {
  if (ips[0] === "None" && ips.length > 1) return [invalid(where, ips, "'None' must be the first and only value")];
  return ips.flatMap((ip, i) => (i === 0 && ip === "None" ? [] : checkStrictIp(where.index(i), ip, existing)));
}

function familyMismatches(
  ips: readonly string[],
  families: readonly string[],
  where: FieldPath,
): readonly FieldError[] {
  return ips.flatMap((ip, i) => {
    const expected = families[i];
    if (expected === undefined || expected === (isIpv6(ip) ? "IPv6" : "IPv4")) return [];
    return [invalid(where.index(i), ip, `expected an ${expected} value as indicated by \`ipFamilies[${i}]\``)];
  });
}
