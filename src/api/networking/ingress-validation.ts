/** Validation of Ingresses. */

import { isUnset } from "../definition/field-checks.ts";
import { checkStrictIp } from "../definition/strict-ip.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import { asSent } from "../machinery/json/sent-empty.ts";
import { parseIp } from "../machinery/names/ip.ts";
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkPortName,
  checkPortNumber,
  checkWildcardSubdomain,
} from "../machinery/names/names.ts";
import type { HTTPIngressPath, Ingress, IngressBackend } from "../types/networking-v1.ts";

const classAnnotation = "kubernetes.io/ingress.class";
const notAnAddress = "must be a DNS name, not an IP address";

export function validateIngress({ spec = {} }: Ingress, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [];
  const rules = spec.rules ?? [];
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    errors.push(invalid(where, asSent(spec, "rules"), "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec.defaultBackend !== undefined)
    errors.push(...validateBackend(spec.defaultBackend, where.child("defaultBackend")));
  for (const [i, { host, http }] of rules.entries()) {
    const at = where.child("rules").index(i);
    if (host) errors.push(...hostFaults(host, at.child("host"), true));
    if (http === undefined) continue;
    if ((http.paths ?? []).length === 0) errors.push(required(at.child("http", "paths")));
    for (const [j, one] of (http.paths ?? []).entries())
      errors.push(...validatePath(one, at.child("http", "paths").index(j)));
  }
  for (const [i, { hosts = [], secretName }] of (spec.tls ?? []).entries()) {
    const at = where.child("tls").index(i);
    for (const [j, host] of hosts.entries()) errors.push(...hostFaults(host, at.child("hosts").index(j), false));
    if (secretName)
      for (const why of checkDns1123Subdomain(secretName))
        errors.push(invalid(at.child("secretName"), secretName, why));
  }
  const name = spec.ingressClassName;
  if (name !== undefined)
    for (const why of checkDns1123Subdomain(name)) errors.push(invalid(where.child("ingressClassName"), name, why));
  return errors;
}

/** The annotation preceded the field; a new object that has both must set them alike. */
export function validateIngressClassName({ metadata, spec }: Ingress, path: FieldPath): readonly FieldError[] {
  const annotation = metadata.annotations?.[classAnnotation];
  const name = spec?.ingressClassName;
  if (annotation === undefined || name === undefined || annotation === name) return [];
  const why = "must match `ingressClassName` when both are specified";
  return [invalid(path.child("annotations").child(classAnnotation), annotation, why)];
}

export function validateIngressStatus(next: Ingress, old: Ingress, path: FieldPath): readonly FieldError[] {
  const existing = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []);
  return (next.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }, i) => {
    const at = path.child("status", "loadBalancer", "ingress").index(i);
    const errors: FieldError[] = ip ? [...checkStrictIp(at.child("ip"), ip, existing)] : [];
    if (hostname) {
      for (const why of checkDns1123Subdomain(hostname)) errors.push(invalid(at.child("hostname"), hostname, why));
      if (parseIp(hostname) !== undefined) errors.push(invalid(at.child("hostname"), hostname, notAnAddress));
    }
    return errors;
  });
}

function hostFaults(host: string, where: FieldPath, refuseAddresses: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (refuseAddresses && parseIp(host) !== undefined) errors.push(invalid(where, host, notAnAddress));
  const check = host.includes("*") ? checkWildcardSubdomain : checkDns1123Subdomain;
  for (const why of check(host)) errors.push(invalid(where, host, why));
  return errors;
}

function validatePath({ path: text = "", pathType, backend }: HTTPIngressPath, at: FieldPath): readonly FieldError[] {
  const where = at.child("path");
  const errors: FieldError[] = [];
  if (isUnset(pathType)) return [required(at.child("pathType"), "pathType must be specified")];
  switch (pathType) {
    case "Exact":
    case "Prefix":
      if (!text.startsWith("/")) errors.push(invalid(where, text, "must be an absolute path"));
      for (const part of ["//", "/./", "/../", "%2f", "%2F"]) {
        if (text.includes(part)) errors.push(invalid(where, text, `must not contain '${part}'`));
      }
      for (const end of ["/..", "/."])
        if (text.endsWith(end)) errors.push(invalid(where, text, `cannot end with '${end}'`));
      break;
    case "ImplementationSpecific":
      if (text !== "" && !text.startsWith("/")) errors.push(invalid(where, text, "must be an absolute path"));
      break;
    default:
      errors.push(notSupported(at.child("pathType"), pathType, ["Exact", "ImplementationSpecific", "Prefix"]));
  }
  return [...errors, ...validateBackend(backend, at.child("backend"))];
}

function validateBackend({ service, resource }: IngressBackend, path: FieldPath): readonly FieldError[] {
  if (service !== undefined && resource !== undefined)
    return [invalid(path, "", "cannot set both resource and service backends")];
  if (resource !== undefined) return validateResource(resource, path.child("resource"));
  if (service === undefined) return [invalid(path, "", "resource or service backend is required")];
  const errors: FieldError[] = [];
  const at = path.child("service");
  if (service.name === "") errors.push(required(at.child("name")));
  else for (const why of checkDns1123Label(service.name)) errors.push(invalid(at.child("name"), service.name, why));
  const { name = "", number = 0 } = service.port ?? {};
  if (name !== "" && number !== 0) errors.push(invalid(path, "", "cannot set both port name & port number"));
  else if (name !== "")
    for (const why of checkPortName(name)) errors.push(invalid(at.child("port", "name"), name, why));
  else if (number !== 0)
    for (const why of checkPortNumber(number)) errors.push(invalid(at.child("port", "number"), number, why));
  else errors.push(required(path, "port name or number is required"));
  return errors;
}

function validateResource(
  { apiGroup, kind, name }: NonNullable<IngressBackend["resource"]>,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!isUnset(apiGroup))
    for (const why of checkDns1123Subdomain(apiGroup)) errors.push(invalid(path.child("apiGroup"), apiGroup, why));
  if (kind === "") errors.push(required(path.child("kind")));
  else for (const why of checkPathSegmentName(kind)) errors.push(invalid(path.child("kind"), kind, why));
  if (name === "") errors.push(required(path.child("name")));
  else for (const why of checkPathSegmentName(name)) errors.push(invalid(path.child("name"), name, why));
  return errors;
}
