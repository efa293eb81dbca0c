/**
 * The IP families of a service, from its policy, its addresses and the families of the cluster. The server calls this
 * between `prepare` and allocation.
 */

import { isIpv6 } from "../../definition/strict-ip.ts";
import { at, type FieldError, invalid } from "../../machinery/errors/field-error.ts";
import type { Draft } from "../../machinery/schema/object.ts";
import type { Service, ServiceSpec } from "../../types/core-v1.ts";
import { validateClusterIPs } from "./cluster-ip-validation.ts";
import { type IpFamily, isHeadless, needsClusterIP } from "./needs.ts";

/**
 * `families`: those of the cluster's service ranges, the default one first. Fills in the draft; errors end the request.
 */
export function initIPFamilies(
  draft: Draft<Service>,
  old: Service | undefined,
  families: readonly IpFamily[],
): readonly FieldError[] {
  const { spec } = draft;
  const service = draft as Service;
  const [primary] = families;
  if (spec === undefined || primary === undefined || !needsClusterIP(service)) return [];
  if (staysAsItIs(spec, old)) return [];
  const isOpen = isHeadless(service) && Object.keys(spec.selector ?? {}).length === 0;
  // An update never changes between one family and two unless its policy says so.
  spec.ipFamilyPolicy ??= old?.spec?.ipFamilyPolicy ?? (isOpen ? "RequireDualStack" : "SingleStack");
  const malformed = validateClusterIPs(service, old, at());
  if (malformed.length > 0) return malformed;
  if (old !== undefined && spec.ipFamilyPolicy === "SingleStack") downgrade(spec, old);
  const misfits = [...validatePolicy(spec, old), ...inferFamilies(spec, families)];
  if (misfits.length > 0) return misfits;
  if (isOpen) {
    spec.ipFamilies = withSecond(spec.ipFamilies ?? [], primary, spec.ipFamilyPolicy !== "SingleStack");
    return [];
  }
  const errors = validateFamilies(spec, families);
  if (errors.length > 0) return errors;
  const wantsBoth = spec.ipFamilyPolicy !== "SingleStack" && families.length > 1;
  spec.ipFamilies = withSecond(spec.ipFamilies ?? [], primary, wantsBoth);
  return [];
}

/** A service that prefers two families gets or loses one only if it asks for that. */
function staysAsItIs(spec: Draft<ServiceSpec>, old: Service | undefined): boolean {
  if (spec.ipFamilyPolicy !== "PreferDualStack" || old?.spec?.ipFamilyPolicy !== "PreferDualStack") return false;
  return (
    spec.clusterIP === old.spec.clusterIP &&
    isSameList(spec.clusterIPs, old.spec.clusterIPs) &&
    isSameList(spec.ipFamilies, old.spec.ipFamilies)
  );
}

function isSameList(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.join() === b.join();
}

/** Whether the policy fits the number of addresses and families. */
function validatePolicy(spec: Draft<ServiceSpec>, old: Service | undefined): readonly FieldError[] {
  const fault = (why: string) => invalid(at("spec", "ipFamilyPolicy"), spec.ipFamilyPolicy ?? null, why);
  const isSingle = spec.ipFamilyPolicy === "SingleStack";
  return POLICY_LISTS.flatMap(({ field, one, several }) => {
    const { length } = spec[field] ?? [];
    if (isSingle) {
      const why = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${several} are specified`;
      return length === 2 ? [fault(why)] : [];
    }
    const isReduced = old?.spec?.[field]?.length === 2 && length === 1 && spec[field]?.[0] === old.spec[field][0];
    return isReduced ? [fault(`must be 'SingleStack' to release the secondary ${one}`)] : [];
  });
}

const POLICY_LISTS = [
  { field: "clusterIPs", one: "cluster IP", several: "cluster IPs" },
  { field: "ipFamilies", one: "IP family", several: "IP families" },
] as const;

/** From two families to one, the first one stays. */
function downgrade(spec: Draft<ServiceSpec>, old: Service): void {
  if (spec.clusterIPs?.length === 2 && spec.clusterIPs.join() === old.spec?.clusterIPs?.join())
    spec.clusterIPs.length = 1;
  if (spec.ipFamilies?.length === 2 && spec.ipFamilies.join() === old.spec?.ipFamilies?.join())
    spec.ipFamilies.length = 1;
}

function inferFamilies(spec: Draft<ServiceSpec>, families: readonly IpFamily[]): readonly FieldError[] {
  const where = at("spec", "clusterIPs");
  const errors: FieldError[] = [];
  const known = [...(spec.ipFamilies ?? [])];
  for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === "None") break;
    if (i < known.length) continue;
    const family: IpFamily = isIpv6(ip) ? "IPv6" : "IPv4";
    if (families.includes(family)) known.push(family);
    else errors.push(invalid(where.index(i), spec.clusterIPs ?? [], `${family} is not configured on this cluster`));
  }
  if (known.length > 0) spec.ipFamilies = known;
  return errors;
}

function validateFamilies(spec: Draft<ServiceSpec>, families: readonly IpFamily[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === "RequireDualStack" && families.length < 2) {
    const why = "this cluster is not configured for dual-stack services";
    errors.push(invalid(at("spec", "ipFamilyPolicy"), spec.ipFamilyPolicy, why));
  }
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    if (!families.includes(family as IpFamily)) {
      errors.push(invalid(at("spec", "ipFamilies").index(i), family, "not configured on this cluster"));
    }
  }
  return errors;
}

function withSecond(known: readonly ("" | IpFamily)[], primary: IpFamily, both: boolean): ("" | IpFamily)[] {
  const first = known[0] ?? primary;
  if (known.length > 1 || !both) return known.length === 0 ? [first] : [...known];
  return [first, first === "IPv4" ? "IPv6" : "IPv4"];
}
