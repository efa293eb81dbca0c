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
  const malformed = validateClusterIPs(service, old, at());
  if (malformed.length > 0) return malformed;
  if (old !== undefined && spec.ipFamilyPolicy === "SingleStack") downgrade(spec, old);
  const foreign = inferFamilies(spec, families);
  if (foreign.length > 0) return foreign;
  if (isHeadless(service) && Object.keys(spec.selector ?? {}).length === 0) {
    spec.ipFamilyPolicy ??=
      (spec.ipFamilies ?? []).length === 1 && old !== undefined ? "SingleStack" : "RequireDualStack";
    spec.ipFamilies = withSecond(spec.ipFamilies ?? [], primary, spec.ipFamilyPolicy !== "SingleStack");
    return [];
  }
  const errors = validateFamilies(spec, families);
  if (errors.length > 0) return errors;
  spec.ipFamilyPolicy ??= "SingleStack";
  const wantsBoth = spec.ipFamilyPolicy !== "SingleStack" && families.length > 1;
  spec.ipFamilies = withSecond(spec.ipFamilies ?? [], primary, wantsBoth);
  return [];
}

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
  const policyPath = at("spec", "ipFamilyPolicy");
  const policy = spec.ipFamilyPolicy ?? "SingleStack";
  const errors: FieldError[] = [];
  if (policy === "RequireDualStack" && families.length < 2) {
    errors.push(invalid(policyPath, policy, "this cluster is not configured for dual-stack services"));
  }
  for (const field of ["ipFamilies", "clusterIPs"] as const) {
    if (policy !== "SingleStack" || (spec[field] ?? []).length < 2) continue;
    const why = `must be RequireDualStack or PreferDualStack when multiple ${field} are specified`;
    errors.push(invalid(policyPath, spec.ipFamilyPolicy ?? null, why));
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
