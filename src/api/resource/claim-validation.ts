/** Validation of ResourceClaims and their templates. */
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import type { DeviceClaim, DeviceConstraint, ResourceClaimSpec } from "../types/resource-v1.ts";
import { validateConfiguration } from "./device-configuration.ts";
import { validateRequest } from "./device-request.ts";
import { validateSet, validateSlice } from "./lists.ts";
import { fullyQualifiedNameFaults, labelFaults } from "./names.ts";

export const mostRequests = 32;
export const mostConfigurations = 32;
const mostConstraints = 32;
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names of requests, and of requests with one of their alternatives: `r`, `r/first`. */
export type RequestNames = ReadonlySet<string>;

/** `stored`: expressions and configuration were checked when they were written. */
export function validateClaimSpec(
  { devices = {} }: ResourceClaimSpec,
  stored: boolean,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.child("devices");
  const names = requestNames(devices);
  return [
    ...validateSet(
      devices.requests,
      mostRequests,
      (request, where) => validateRequest(request, stored, where),
      ({ name }) => name,
      at.child("requests"),
    ),
    ...validateSlice(
      devices.constraints,
      mostConstraints,
      (constraint, where) => validateConstraint(constraint, names, where),
      at.child("constraints"),
    ),
    ...validateSlice(
      devices.config,
      mostConfigurations,
      (config, where) => [
        ...validateReferences(config.requests, names, where.child("requests")),
        ...validateConfiguration(config, stored, where),
      ],
      at.child("config"),
    ),
  ];
}

export function requestNames({ requests }: DeviceClaim): RequestNames {
  return new Set(
    (requests ?? []).flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((one) => `${name}/${one.name}`),
    ]),
  );
}

export function validateReferences(
  wanted: readonly string[] | undefined,
  names: RequestNames,
  at: FieldPath,
): readonly FieldError[] {
  return validateSet(
    wanted,
    mostRequests,
    (name, where) => referenceFaults(name, names, where),
    (name) => name,
    at,
  );
}

export function referenceFaults(name: string, names: RequestNames, at: FieldPath): readonly FieldError[] {
  const parts = name.split("/");
  if (parts.length > 2) return [invalid(at, name, unknownRequest)];
  const errors = parts.flatMap((part) => labelFaults(part, at));
  return names.has(name) ? errors : [...errors, invalid(at, name, unknownRequest)];
}

function validateConstraint(constraint: DeviceConstraint, names: RequestNames, at: FieldPath): readonly FieldError[] {
  return [...validateReferences(constraint.requests, names, at.child("requests")), ...constraintFaults(constraint, at)];
}

/** The words of Kubernetes, where neither attribute is set. */
const noAttribute = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';

function constraintFaults(
  { matchAttribute, distinctAttribute }: DeviceConstraint,
  at: FieldPath,
): readonly FieldError[] {
  if (matchAttribute !== undefined) return fullyQualifiedNameFaults(matchAttribute, at.child("matchAttribute"));
  if (distinctAttribute !== undefined)
    return fullyQualifiedNameFaults(distinctAttribute, at.child("distinctAttribute"));
  return [required(at, noAttribute)];
}
