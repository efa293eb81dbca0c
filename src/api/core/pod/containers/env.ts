/** Environment variables, and where their values come from. */

import { fits, requireFits, requireText } from "../../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  NO_ERRORS,
  notFound,
} from "../../../machinery/errors/field-error.ts";
import {
  checkConfigMapKey,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkPrefix,
} from "../../../machinery/names/names.ts";
import type { EnvFromSource, EnvVar, FileKeySelector, PodSpec } from "../../../types/core-v1.ts";
import { validateNoBacksteps } from "../../volumes/current-sources.ts";
import { envFields, validateFieldRef, validateResourceFieldRef } from "../fields/field-refs.ts";
import { allContainers, placedContainers } from "../fields/visit.ts";

export function validateEnv(vars: readonly EnvVar[], at: FieldPath): readonly FieldError[] {
  return vars.flatMap((variable, i) => [
    ...requireFits(checkEnvVarName, variable.name, at.index(i).child("name")),
    ...validateValueFrom(variable, at.index(i).child("valueFrom")),
  ]);
}

function validateValueFrom({ value = "", valueFrom }: EnvVar, at: FieldPath): readonly FieldError[] {
  if (valueFrom === undefined) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const errors: FieldError[] = [];
  if (fieldRef !== undefined) errors.push(...validateFieldRef(fieldRef, envFields, at.child("fieldRef")));
  if (resourceFieldRef !== undefined)
    errors.push(...validateResourceFieldRef(resourceFieldRef, at.child("resourceFieldRef"), "env"));
  if (configMapKeyRef !== undefined) errors.push(...validateKeyRef(configMapKeyRef, at.child("configMapKeyRef")));
  if (secretKeyRef !== undefined) errors.push(...validateKeyRef(secretKeyRef, at.child("secretKeyRef")));
  if (fileKeyRef !== undefined) errors.push(...validateFileKeyRef(fileKeyRef, at.child("fileKeyRef")));
  const count = Object.keys(valueFrom).length;
  if (count === 0) {
    const names = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.push(invalid(at, "", `must specify one of: ${names}`));
  } else if (value !== "") errors.push(invalid(at, "", "may not be specified when `value` is not empty"));
  else if (count > 1) errors.push(invalid(at, "", "may not have more than one field specified at a time"));
  return errors;
}

function validateKeyRef(
  { name, key }: { readonly name?: string; readonly key: string },
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...fits(checkDns1123Subdomain, name ?? "", at.child("name")),
    ...requireFits(checkConfigMapKey, key, at.child("key")),
  ];
}

function validateFileKeyRef({ key, volumeName, path }: FileKeySelector, at: FieldPath): readonly FieldError[] {
  return [
    ...requireFits(checkEnvVarName, key, at.child("key")),
    ...requireFits(checkDns1123Label, volumeName, at.child("volumeName")),
    ...requireText(path, at.child("path")),
    ...validateNoBacksteps(path ?? "", at.child("path")),
  ];
}

/** A file with variables is written by one container and read for another: only an emptyDir is allowed. */
export function validateFileKeyVolumes(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  if (!allContainers(spec).some(({ env }) => env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined)))
    return NO_ERRORS;
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  return placedContainers(spec, at).flatMap(({ container, path }) =>
    (container.env ?? []).flatMap(({ valueFrom }, i) => {
      if (valueFrom?.fileKeyRef === undefined) return [];
      const { volumeName } = valueFrom.fileKeyRef;
      const where = path.child("env").index(i).child("valueFrom", "fileKeyRef", "volumeName");
      const volume = volumes.get(volumeName);
      if (volume === undefined) return [notFound(where, volumeName)];
      return volume.emptyDir === undefined
        ? [invalid(where, volumeName, "referenced volume must be of type emptyDir")]
        : [];
    }),
  );
}

/** The number of sources is reported for the list as a whole. */
export function validateEnvFrom(sources: readonly EnvFromSource[], at: FieldPath): readonly FieldError[] {
  return sources.flatMap(({ prefix, configMapRef, secretRef }, i) => {
    const path = at.index(i);
    const errors = prefix ? [...fits(checkEnvVarName, prefix, path.child("prefix"))] : [];
    if (configMapRef !== undefined)
      errors.push(...validateReference(configMapRef.name, path.child("configMapRef", "name")));
    if (secretRef !== undefined) errors.push(...validateReference(secretRef.name, path.child("secretRef", "name")));
    if (configMapRef === undefined && secretRef === undefined) {
      errors.push(invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.push(invalid(at, "", "may not have more than one field specified at a time"));
    }
    return errors;
  });
}

/** As lenient as for a generated name: a trailing hyphen is allowed. */
function validateReference(name: string | undefined, at: FieldPath): readonly FieldError[] {
  return requireFits(checkPrefix(checkDns1123Subdomain), name, at);
}
