/** Validation of the load balancer status. */

import { checkStrictIp } from "../../definition/strict-ip.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { parseIp } from "../../machinery/names/ip.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type { LoadBalancerIngress, Service } from "../../types/core-v1.ts";

const modes = ["Proxy", "VIP"];

export function validateServiceStatus(next: Service, old: Service, path: FieldPath): readonly FieldError[] {
  const points = next.status?.loadBalancer?.ingress ?? [];
  const where = path.child("status", "loadBalancer", "ingress");
  if (points.length > 0 && next.spec?.type !== "LoadBalancer") {
    return [forbidden(where, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  const existing = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
  return points.flatMap((point, i) => validatePoint(point, existing, where.index(i)));
}

function validatePoint(
  { ip, ipMode, hostname }: LoadBalancerIngress,
  existing: readonly string[],
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (ip) errors.push(...checkStrictIp(path.child("ip"), ip, existing));
  const where = path.child("ipMode");
  if (ip && ipMode === undefined) errors.push(required(where, "must be specified when `ip` is set"));
  else if (!ip && ipMode !== undefined) errors.push(forbidden(where, "may not be specified when `ip` is not set"));
  else if (ipMode !== undefined && !modes.includes(ipMode)) errors.push(notSupported(where, ipMode, modes));
  if (hostname) {
    for (const why of checkDns1123Subdomain(hostname)) errors.push(invalid(path.child("hostname"), hostname, why));
    if (parseIp(hostname) !== undefined) {
      errors.push(invalid(path.child("hostname"), hostname, "must be a DNS name, not an IP address"));
    }
  }
  return errors;
}
