/** Validation of NetworkPolicies. */
import { checkStrictCidr } from "../definition/strict-ip.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../machinery/errors/field-error.ts";
import { contains, parseCidr } from "../machinery/names/ip.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import { checkPortName, checkPortNumber } from "../machinery/names/names.ts";
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from "../types/networking-v1.ts";

const protocols = ["TCP", "UDP", "SCTP"];
const policyTypes = ["Ingress", "Egress"];

export function validateNetworkPolicy({ spec = {} }: NetworkPolicy, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [...validateLabelSelector(spec.podSelector, where.child("podSelector"))];
  for (const [i, { ports = [], from = [] }] of (spec.ingress ?? []).entries()) {
    const at = where.child("ingress").index(i);
    errors.push(...ports.flatMap((port, j) => validatePort(port, at.child("ports").index(j))));
    errors.push(...from.flatMap((peer, j) => validatePeer(peer, at.child("from").index(j))));
  }
  for (const [i, { ports = [], to = [] }] of (spec.egress ?? []).entries()) {
    const at = where.child("egress").index(i);
    errors.push(...ports.flatMap((port, j) => validatePort(port, at.child("ports").index(j))));
    errors.push(...to.flatMap((peer, j) => validatePeer(peer, at.child("to").index(j))));
  }
  const types = spec.policyTypes ?? [];
  if (types.length > 2)
    return [...errors, invalid(where.child("policyTypes"), types, "may not specify more than two policyTypes")];
  for (const [i, type] of types.entries()) {
    if (!policyTypes.includes(type)) errors.push(notSupported(where.child("policyTypes").index(i), type, policyTypes));
  }
  return errors;
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const end = path.child("endPort");
  if (protocol !== undefined && !protocols.includes(protocol))
    errors.push(notSupported(path.child("protocol"), protocol, protocols));
  if (port === undefined) {
    if (endPort !== undefined) errors.push(invalid(end, endPort, "may not be specified when `port` is not specified"));
  } else if (typeof port === "number") {
    for (const why of checkPortNumber(port)) errors.push(invalid(path.child("port"), port, why));
    if (endPort !== undefined) {
      if (endPort < port) errors.push(invalid(end, port, "must be greater than or equal to `port`"));
      for (const why of checkPortNumber(endPort)) errors.push(invalid(end, endPort, why));
    }
  } else {
    if (endPort !== undefined) errors.push(invalid(end, endPort, "may not be specified when `port` is non-numeric"));
    for (const why of checkPortName(port)) errors.push(invalid(path.child("port"), port, why));
  }
  return errors;
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [
    ...validateLabelSelector(podSelector, path.child("podSelector")),
    ...validateLabelSelector(namespaceSelector, path.child("namespaceSelector")),
  ];
  if (ipBlock !== undefined) errors.push(...validateBlock(ipBlock, path.child("ipBlock")));
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && ipBlock === undefined) errors.push(required(path, "must specify a peer"));
  else if (selects && ipBlock !== undefined)
    errors.push(forbidden(path, "may not specify both ipBlock and another peer"));
  return errors;
}

function validateBlock({ cidr, except = [] }: IPBlock, path: FieldPath): readonly FieldError[] {
  if (cidr === "") return [required(path.child("cidr"))];
  const errors = [...checkStrictCidr(path.child("cidr"), cidr)];
  const range = parseCidr(cidr);
  if (range === undefined) return errors;
  for (const [i, exception] of except.entries()) {
    const at = path.child("except").index(i);
    const wrong = checkStrictCidr(at, exception);
    const inner = parseCidr(exception);
    errors.push(...wrong);
    if (inner === undefined) continue;
    if (!contains(range, inner) || inner.prefixLength <= range.prefixLength) {
      errors.push(invalid(at, exception, "must be a strict subset of `cidr`"));
    }
  }
  return errors;
}
