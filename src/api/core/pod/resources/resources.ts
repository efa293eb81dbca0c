/** Requests and limits of containers and of the pod, and resize policies. */

import { fits, requireOneOf } from "../../../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from "../../../machinery/errors/field-error.ts";
import { ownValue } from "../../../machinery/json/own-key.ts";
import { checkDns1123Label } from "../../../machinery/names/names.ts";
import { compareQuantities, formatQuantity, parseQuantity } from "../../../machinery/scalars/quantity.ts";
import { once } from "../../../machinery/schema/memo.ts";
import type {
  ContainerResizePolicy,
  PodResourceClaim,
  PodSpec,
  ResourceClaim,
  ResourceRequirements,
} from "../../../types/core-v1.ts";
import { quantityFaults } from "../../resources/resource-list.ts";
import { containerResourceNameFaults } from "../../resources/standard-resources.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { containerTotals } from "./container-totals.ts";
import { isDivisible, isHugePages, isOvercommitAllowed, podResourceFaults } from "./names.ts";

type NameFaults = (name: string, at: FieldPath) => readonly FieldError[];

export function validateContainerResources(
  resources: ResourceRequirements | undefined,
  claims: readonly PodResourceClaim[],
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  return validateRequirements(resources ?? {}, containerResourceNameFaults, claims, at, options);
}

export function validateOverhead(
  overhead: Readonly<Record<string, string>>,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  return validateRequirements({ limits: overhead }, containerResourceNameFaults, [], at, options);
}

/** Pod-level requests and limits must cover those of the containers. */
export function validatePodResources(
  spec: PodSpec,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  if (spec.os?.name === "windows") return [forbidden(at, "may not be set for a windows pod")];
  const errors: FieldError[] = [];
  if (resources.claims !== undefined) {
    errors.push(forbidden(at.child("claims"), "claims may not be set for Resources at pod-level"));
  }
  errors.push(...validateRequirements(resources, podResourceFaults, spec.resourceClaims ?? [], at, options));
  errors.push(...validateRoom(spec, "requests", () => true, at), ...validateRoom(spec, "limits", isHugePages, at));
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const most = ownValue(resources.limits, name);
      if (most === undefined || compareQuantities(parseQuantity(limit), parseQuantity(most)) <= 0) continue;
      const where = at.child("containers").index(i).key(name).child("limits");
      errors.push(invalid(where, limit, `must be less than or equal to pod limits of ${most}`));
    }
  }
  return errors;
}

function validateRoom(
  spec: PodSpec,
  side: "requests" | "limits",
  counts: (name: string) => boolean,
  at: FieldPath,
): readonly FieldError[] {
  return Object.entries(containerTotals(spec, side)).flatMap(([name, total]) => {
    const given = ownValue(spec.resources?.[side], name);
    if (!counts(name) || given === undefined || compareQuantities(total, parseQuantity(given)) <= 0) return [];
    const why = `must be greater than or equal to aggregate container ${side} of ${formatQuantity(total)}`;
    return [invalid(at.child(side).key(name), given, why)];
  });
}

function validateRequirements(
  { limits = {}, requests = {}, claims = [] }: ResourceRequirements,
  nameFaults: NameFaults,
  podClaims: readonly PodResourceClaim[],
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, amount] of Object.entries(limits)) {
    const path = at.child("limits").key(name);
    errors.push(
      ...nameFaults(name, path),
      ...quantityFaults(name, amount, path),
      ...hugePageFaults(name, amount, path, options),
    );
  }
  for (const [name, amount] of Object.entries(requests)) {
    const path = at.child("requests").key(name);
    errors.push(...nameFaults(name, path), ...quantityFaults(name, amount, path));
    errors.push(
      ...validateRequest(name, amount, ownValue(limits, name), at),
      ...hugePageFaults(name, amount, path, options),
    );
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    errors.push(forbidden(at, "HugePages require cpu or memory"));
  }
  return claims.length === 0 ? errors : [...errors, ...validateClaims(claims, podClaims, at.child("claims"))];
}

function validateRequest(
  name: string,
  amount: string,
  limit: string | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const exact = !isOvercommitAllowed(name);
  if (limit === undefined)
    return exact ? [required(at.child("limits"), "Limit must be set for non overcommitable resources")] : [];
  const difference = compareQuantities(parseQuantity(amount), parseQuantity(limit));
  if (difference === 0 || (difference < 0 && !exact)) return [];
  const relation = exact ? "equal to" : "less than or equal to";
  return [invalid(at.child("requests"), amount, `must be ${relation} ${name} limit of ${limit}`)];
}

function hugePageFaults(
  name: string,
  amount: string,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  if (options.allowIndivisibleHugePages || isDivisible(name, amount)) return [];
  return [invalid(at, amount, `${amount} is not positive integer multiple of ${name}`)];
}

function validateClaims(
  claims: readonly ResourceClaim[],
  podClaims: readonly PodResourceClaim[],
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set(podClaims.map(({ name }) => name).filter((name) => name !== ""));
  const which = once(() => (known.size === 0 ? " which is empty" : `: ${[...known].sort().join(", ")}`));
  // The requests of each claim, "" for all of them.
  const seen = new Map<string, Set<string>>();
  for (const [i, { name, request = "" }] of claims.entries()) {
    const path = at.index(i);
    if (!name) {
      errors.push(required(path));
      continue;
    }
    const same = seen.get(name);
    if (same?.has("") === true) errors.push(duplicate(path, name));
    else {
      if (request !== "") errors.push(...fits(checkDns1123Label, request, path.child("request")));
      const clash = same !== undefined && (request === "" || same.has(request));
      if (clash) errors.push(duplicate(path, request === "" ? name : `${name}/${request}`));
      if (same === undefined) seen.set(name, new Set([request]));
      else same.add(request);
    }
    if (!known.has(name)) {
      const detail = `must be one of the names in pod.spec.resourceClaims${which()}`;
      errors.push({ ...notFound(path, name), detail });
    }
  }
  return errors;
}

/** The index is reported only for a duplicate resource. */
export function validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podRestartPolicy: string | undefined,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { resourceName, restartPolicy }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(at.index(i), resourceName));
    seen.add(resourceName);
    errors.push(...requireOneOf(resourceName, ["cpu", "memory"], at));
    if (!restartPolicy) errors.push(required(at));
    else if (restartPolicy !== "NotRequired" && restartPolicy !== "RestartContainer") {
      errors.push(notSupported(at, restartPolicy, ["NotRequired", "RestartContainer"]));
    }
    if (podRestartPolicy === "Never" && restartPolicy !== "NotRequired") {
      errors.push(invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
  return errors;
}
