/** Validation of ResourceClaims. CEL expressions are compiled where they are evaluated. */

import {
  duplicate,
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { checkCIdentifier, checkDns1123Label, checkDns1123Subdomain } from "../machinery/names/names.ts";
import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ResourceClaim,
  ResourceClaimSpec,
} from "../types/resource-v1.ts";

const modes = ["All", "ExactCount"];
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

export function validateClaimSpec({ devices }: ResourceClaimSpec, path: FieldPath): readonly FieldError[] {
  const where = path.child("devices");
  const requests = devices?.requests ?? [];
  const errors: FieldError[] = [];
  if (requests.length > 32) errors.push(tooMany(where.child("requests"), requests.length, 32));
  const names = new Set<string>();
  for (const [i, request] of requests.entries()) {
    const at = where.child("requests").index(i);
    if (names.has(request.name)) errors.push(duplicate(at, request.name));
    names.add(request.name);
    for (const { name } of request.firstAvailable ?? []) names.add(`${request.name}/${name}`);
    errors.push(...validateRequest(request, at));
  }
  for (const [i, constraint] of (devices?.constraints ?? []).entries()) {
    errors.push(...validateConstraint(constraint, names, where.child("constraints").index(i)));
  }
  for (const [i, { requests: wanted = [], opaque }] of (devices?.config ?? []).entries()) {
    const at = where.child("config").index(i);
    errors.push(...requestNames(wanted, names, at.child("requests")));
    if (opaque === undefined) errors.push(required(at, "exactly one field must be specified"));
    else
      for (const why of checkDns1123Subdomain(opaque.driver))
        errors.push(invalid(at.child("opaque", "driver"), opaque.driver, why));
  }
  return errors;
}

export function validateSpecChange(next: object, old: object, path: FieldPath): readonly FieldError[] {
  return equalJson(next as Json, old as Json) ? [] : [immutable(path, next as Json)];
}

export function validateClaimStatus(
  { status }: ResourceClaim,
  old: ResourceClaim,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const reserved = status?.reservedFor ?? [];
  const where = path.child("status", "reservedFor");
  if (reserved.length > 256) errors.push(tooMany(where, reserved.length, 256));
  if (reserved.length > 0 && status?.allocation === undefined) {
    errors.push({
      type: "FieldValueForbidden",
      field: where.toString(),
      detail: "may not be specified when `allocated` is not set",
    });
  }
  const seen = new Set<string>();
  for (const [i, { resource, name, uid }] of reserved.entries()) {
    if (resource === "") errors.push(required(where.index(i).child("resource")));
    if (name === "") errors.push(required(where.index(i).child("name")));
    if (uid === "") errors.push(required(where.index(i).child("uid")));
    if (seen.has(uid)) errors.push(duplicate(where.index(i).child("uid"), uid));
    seen.add(uid);
  }
  const [before, after] = [old.status?.allocation, status?.allocation];
  if (before !== undefined && after !== undefined) {
    errors.push(...validateSpecChange(after, before, path.child("status", "allocation")));
  }
  return errors;
}

function validateRequest(request: DeviceRequest, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [...labelFaults(request.name, path.child("name"))];
  const { exactly, firstAvailable = [] } = request;
  if ((exactly === undefined) === (firstAvailable.length === 0)) {
    const why = "exactly one of `exactly` or `firstAvailable` is required";
    errors.push(
      exactly === undefined
        ? required(path, why)
        : invalid(path, request as unknown as Json, `${why}, but multiple fields are set`),
    );
    return errors;
  }
  if (exactly !== undefined) errors.push(...validateDeviceRequest(exactly, path.child("exactly")));
  for (const [i, one] of firstAvailable.entries()) {
    const at = path.child("firstAvailable").index(i);
    errors.push(...labelFaults(one.name, at.child("name")), ...validateDeviceRequest(one, at));
  }
  return errors;
}

function validateDeviceRequest(request: Omit<DeviceSubRequest, "name">, path: FieldPath): readonly FieldError[] {
  const { deviceClassName, allocationMode = "", count = 0 } = request;
  const errors: FieldError[] = [];
  if (deviceClassName === "") errors.push(required(path.child("deviceClassName")));
  else
    for (const why of checkDns1123Subdomain(deviceClassName))
      errors.push(invalid(path.child("deviceClassName"), deviceClassName, why));
  if (!modes.includes(allocationMode)) errors.push(notSupported(path.child("allocationMode"), allocationMode, modes));
  else if (allocationMode === "ExactCount" && count <= 0)
    errors.push(invalid(path.child("count"), count, "must be greater than zero"));
  else if (allocationMode === "All" && count !== 0) {
    errors.push(invalid(path.child("count"), count, "must not be specified when allocationMode is 'All'"));
  }
  return errors;
}

function validateConstraint(
  constraint: DeviceConstraint,
  names: ReadonlySet<string>,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [...requestNames(constraint.requests ?? [], names, path.child("requests"))];
  const { matchAttribute, distinctAttribute } = constraint;
  if (matchAttribute !== undefined) errors.push(...qualifiedFaults(matchAttribute, path.child("matchAttribute")));
  else if (distinctAttribute !== undefined)
    errors.push(...qualifiedFaults(distinctAttribute, path.child("distinctAttribute")));
  else errors.push(required(path, "exactly one field must be specified"));
  return errors;
}

function requestNames(wanted: readonly string[], names: ReadonlySet<string>, path: FieldPath): readonly FieldError[] {
  return wanted.flatMap((name, i) => (names.has(name) ? [] : [invalid(path.index(i), name, unknownRequest)]));
}

/** An attribute of a device, with its domain. */
function qualifiedFaults(name: string, path: FieldPath): readonly FieldError[] {
  const slash = name.indexOf("/");
  if (slash < 0)
    return [invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")];
  const [domain, id] = [name.slice(0, slash), name.slice(slash + 1)];
  const errors: FieldError[] = [];
  if (domain === "") errors.push(required(path, "the domain must not be empty"));
  else for (const why of checkDns1123Subdomain(domain)) errors.push(invalid(path, domain, why));
  if (id === "") errors.push(required(path, "the name must not be empty"));
  else for (const why of checkCIdentifier(id)) errors.push(invalid(path, id, why));
  return errors;
}

function labelFaults(name: string, path: FieldPath): readonly FieldError[] {
  if (name === "") return [required(path)];
  return checkDns1123Label(name).map((why) => invalid(path, name, why));
}
