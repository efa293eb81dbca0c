/** Volumes whose files come from the API: secrets, config maps, the downward API and tokens, alone or projected. */

import { requireText } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from "../../../machinery/errors/field-error.ts";
import type {
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
} from "../../../types/core-v1.ts";
import { validateFieldRef, validateResourceFieldRef, volumeFields } from "../fields/field-refs.ts";
import { validateFilePath, validateMode } from "../fields/paths.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateKeyToPath } from "./sources.ts";

const shortestTokenSeconds = 10 * 60;
const longestTokenSeconds = 2 ** 32;

export function validateDownwardApi(
  { defaultMode, items = [] }: DownwardAPIVolumeSource,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...validateMode(defaultMode, at.child("defaultMode")),
    ...items.flatMap((file) => validateDownwardApiFile(file, at)),
  ];
}

function validateDownwardApiFile(
  { path, fieldRef, resourceFieldRef, mode }: DownwardAPIVolumeFile,
  at: FieldPath,
): readonly FieldError[] {
  const errors = [...requireText(path, at.child("path")), ...validateFilePath(path ?? "", at.child("path"))];
  if (fieldRef !== undefined) {
    errors.push(...validateFieldRef(fieldRef, volumeFields, at.child("fieldRef")));
    if (resourceFieldRef !== undefined) {
      errors.push(invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (resourceFieldRef !== undefined) {
    errors.push(...validateResourceFieldRef(resourceFieldRef, at.child("resourceFieldRef"), "volume"));
  } else {
    errors.push(required(at, "one of fieldRef and resourceFieldRef is required"));
  }
  return [...errors, ...validateMode(mode, at.child("mode"))];
}

export function validateProjected(
  { defaultMode, sources }: ProjectedVolumeSource,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const errors = [...validateMode(defaultMode, at.child("defaultMode"))];
  const paths = new Set<string>();
  const claim = (path: string | undefined, owner: string) => {
    if (!path) return;
    if (paths.has(path)) errors.push(invalid(at, owner, "conflicting duplicate paths"));
    paths.add(path);
  };
  for (const [i, source] of (sources ?? []).entries()) {
    const path = at.child("sources").index(i);
    for (const kind of ["secret", "configMap"] as const) {
      const files = source[kind];
      if (files === undefined) continue;
      errors.push(...requireText(files.name, path.child(kind, "name")));
      for (const [j, item] of (files.items ?? []).entries()) {
        errors.push(...validateKeyToPath(item, path.child(kind, "items").index(j)));
        claim(item.path, files.name ?? "");
      }
    }
    for (const file of source.downwardAPI?.items ?? []) {
      errors.push(...validateDownwardApiFile(file, path.child("downwardAPI")));
      claim(file.path, file.path);
    }
    if (source.serviceAccountToken !== undefined) {
      errors.push(...validateToken(source.serviceAccountToken, path.child("serviceAccountToken"), at, options));
    }
    if (Object.keys(source).length > 1)
      errors.push(forbidden(path, "may not specify more than 1 volume type per source"));
  }
  return errors;
}

/** The fault is reported at the path of the volume. */
function validateToken(
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
  at: FieldPath,
  volume: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const where = at.child("expirationSeconds");
  if (expirationSeconds < shortestTokenSeconds) {
    errors.push(invalid(where, expirationSeconds, "may not specify a duration less than 10 minutes"));
  }
  if (expirationSeconds > longestTokenSeconds) {
    errors.push(invalid(where, expirationSeconds, "may not specify a duration larger than 2^32 seconds"));
  }
  if (!path) errors.push(required(volume.child("path")));
  else if (!options.allowNonLocalTokenPath) errors.push(...validateFilePath(path, volume.child("path")));
  return errors;
}
