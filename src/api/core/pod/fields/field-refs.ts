/** The downward API: references of containers and volumes to fields and resources of their own pod. */

import { requireText } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../../machinery/errors/field-error.ts";
import { checkQualifiedName } from "../../../machinery/names/names.ts";
import { canonicalQuantity } from "../../../machinery/scalars/quantity.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { ObjectFieldSelector, ResourceFieldSelector } from "../../../types/core-v1.ts";

/** Sorted, as the message lists them. */
export const envFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
export const volumeFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** Fields of a pod that a reference can name; each use accepts some of them. */
const knownFields = new Set([
  ...envFields,
  ...volumeFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

const subscript = /^(.+?)\['(.*)'\]$/s;

export function validateFieldRef(
  { apiVersion, fieldPath }: ObjectFieldSelector,
  allowed: readonly string[],
  at: FieldPath,
): readonly FieldError[] {
  if (!apiVersion) return [required(at.child("apiVersion"))];
  if (!fieldPath) return [required(at.child("fieldPath"))];
  const refused = (why: string) => [invalid(at.child("fieldPath"), fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== "v1") return refused(`unsupported pod version: ${apiVersion}`);
  const [, base, key = ""] = subscript.exec(fieldPath) ?? [];
  if (base !== undefined) {
    if (base !== "metadata.annotations" && base !== "metadata.labels") {
      return refused(`field label does not support subscript: ${fieldPath}`);
    }
    const name = base === "metadata.annotations" ? key.toLowerCase() : key;
    return checkQualifiedName(name).map((why) => invalid(at, name, why));
  }
  const path = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  if (!knownFields.has(path)) return refused(`field label not supported: ${fieldPath}`);
  return allowed.includes(path) ? [] : [notSupported(at.child("fieldPath"), path, allowed)];
}

const resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const hugePages = /^(limits|requests)\.hugepages-/;

export function validateResourceFieldRef(
  selector: ResourceFieldSelector,
  at: FieldPath,
  use: "env" | "volume",
): readonly FieldError[] {
  const { containerName, resource, divisor } = selector;
  const errors: FieldError[] = [];
  if (use === "volume" && !containerName) errors.push(required(at.child("containerName")));
  else if (!resource) errors.push(...requireText(resource, at.child("resource")));
  else if (!resources.includes(resource) && !hugePages.test(resource)) {
    errors.push(notSupported(at.child("resource"), resource, resources));
  }
  return [...errors, ...validateDivisor(resource ?? "", divisor, at.child("divisor"))];
}

const byteDivisors = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
const divisors: readonly (readonly [RegExp, string, readonly string[], string])[] = [
  [/\.cpu$/, "cpu", ["1m", "1"], "1m and 1"],
  [/\.memory$/, "memory", byteDivisors, byteDivisors.join(", ")],
  [/\.ephemeral-storage$/, "local ephemeral storage", byteDivisors, byteDivisors.join(", ")],
  [hugePages, "hugepages", byteDivisors, byteDivisors.join(", ")],
];

function validateDivisor(resource: string, divisor: string | undefined, at: FieldPath): readonly FieldError[] {
  const amount = canonicalQuantity(divisor ?? "0");
  if (amount === "0") return [];
  const [, name, allowed, words] = divisors.find(([pattern]) => pattern.test(resource)) ?? [];
  if (allowed === undefined || allowed.includes(amount)) return [];
  return [invalid(at, resource, `only divisor's values ${words} are supported with the ${name} resource`)];
}

export function defaultFieldRef(selector: Draft<ObjectFieldSelector> | undefined): void {
  if (selector !== undefined && (selector.apiVersion ?? "") === "") selector.apiVersion = "v1";
}
