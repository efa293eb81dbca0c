import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, immutable, invalid, required } from "../machinery/errors/field-error.ts";
import { checkCidr, parseCidr } from "../machinery/names/ip.ts";
import type { ServiceCIDR as ServiceCIDRObject } from "../types/networking-v1.ts";

/** ServiceCIDR: ranges of addresses for services. */
export const ServiceCIDR = defineKind<ServiceCIDRObject>("networking.k8s.io/v1", "ServiceCIDR", {
  validate: ({ spec }, path) => validateCidrs(spec?.cidrs ?? [], path.child("spec", "cidrs")),
  update: { validate: validateChange },
  subresources: { status: { keeps: "nothing" } },
  columns: [
    {
      name: "CIDRs",
      type: "string",
      doc: "io.k8s.api.networking.v1.ServiceCIDRSpec.cidrs",
      cell: ({ spec }) => (spec?.cidrs ?? []).join(","),
    },
    ageColumn,
  ],
});

function validateCidrs(cidrs: readonly string[], path: FieldPath): readonly FieldError[] {
  if (cidrs.length === 0) return [required(path, "at least one CIDR required")];
  const errors: FieldError[] = [];
  if (cidrs.length > 2) {
    errors.push(invalid(path, cidrs, "may only hold up to 2 values"));
  } else if (cidrs.length === 2) {
    const families = cidrs.map((cidr) => parseCidr(cidr)?.bytes.length);
    if (families.every((family) => family !== undefined) && families[0] === families[1]) {
      const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
      errors.push(invalid(path, cidrs, why));
    }
  }
  return [...errors, ...cidrs.flatMap((cidr, i) => checkCidr(path.index(i), cidr))];
}

/** A second family may be added; existing ranges are immutable. */
function validateChange(next: ServiceCIDRObject, old: ServiceCIDRObject, path: FieldPath): readonly FieldError[] {
  const [before, after] = [old.spec?.cidrs ?? [], next.spec?.cidrs ?? []];
  const where = path.child("spec", "cidrs");
  if (before.length === 1 && after.length === 2)
    return before[0] === after[0] ? [] : [immutable(where.index(0), after[0] ?? "")];
  return before.join() === after.join() ? [] : [immutable(where, after)];
}
