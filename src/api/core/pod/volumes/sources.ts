/** Volume sources that only pods have. */

import { fits, requireOneOf, requireText } from "../../../definition/field-checks.ts";
import { validateTemplateMeta } from "../../../definition/template-meta.ts";
import { type FieldError, type FieldPath, required } from "../../../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../../../machinery/names/names.ts";
import type {
  ConfigMapVolumeSource,
  CSIVolumeSource,
  EphemeralVolumeSource,
  GitRepoVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  PersistentVolumeClaimTemplate,
  PersistentVolumeClaimVolumeSource,
  SecretVolumeSource,
} from "../../../types/core-v1.ts";
import { csiDriverNameFaults } from "../../volumes/current-sources.ts";
import { validateClaimSpec } from "../../volumes/persistent-volume-claim-validation.ts";
import { pullPolicies } from "../fields/image.ts";
import { validateDescendingPath, validateFilePath, validateMode } from "../fields/paths.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";

export function validateGitRepo({ repository, directory }: GitRepoVolumeSource, at: FieldPath): readonly FieldError[] {
  return [
    ...requireText(repository, at.child("repository")),
    ...validateDescendingPath(directory ?? "", at.child("directory")),
  ];
}

export function validateSecret(
  { secretName, defaultMode, items }: SecretVolumeSource,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...requireText(secretName, at.child("secretName")),
    ...validateMode(defaultMode, at.child("defaultMode")),
    ...validateItems(items, at.child("items")),
  ];
}

export function validateConfigMap(
  { name, defaultMode, items }: ConfigMapVolumeSource,
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...requireText(name, at.child("name")),
    ...validateMode(defaultMode, at.child("defaultMode")),
    ...validateItems(items, at.child("items")),
  ];
}

export function validateKeyToPath({ key, path, mode }: KeyToPath, at: FieldPath): readonly FieldError[] {
  return [
    ...requireText(key, at.child("key")),
    ...requireText(path, at.child("path")),
    ...validateFilePath(path ?? "", at.child("path")),
    ...validateMode(mode, at.child("mode")),
  ];
}

function validateItems(items: readonly KeyToPath[] | undefined, at: FieldPath): readonly FieldError[] {
  return (items ?? []).flatMap((item, i) => validateKeyToPath(item, at.index(i)));
}

export function validateClaimReference(
  { claimName }: PersistentVolumeClaimVolumeSource,
  at: FieldPath,
): readonly FieldError[] {
  return requireText(claimName, at.child("claimName"));
}

export function validateCsi({ driver, nodePublishSecretRef }: CSIVolumeSource, at: FieldPath): readonly FieldError[] {
  const errors = [...csiDriverNameFaults(driver, at.child("driver"))];
  if (nodePublishSecretRef === undefined) return errors;
  const { name = "" } = nodePublishSecretRef;
  if (name === "") errors.push(required(at.child("nodePublishSecretRef", "name")));
  else errors.push(...fits(checkDns1123Subdomain, name, at.child("name")));
  return errors;
}

export function validateEphemeral(
  { volumeClaimTemplate }: EphemeralVolumeSource,
  at: FieldPath,
): readonly FieldError[] {
  const path = at.child("volumeClaimTemplate");
  return volumeClaimTemplate === undefined ? [required(path)] : validateClaimTemplate(volumeClaimTemplate, path);
}

function validateClaimTemplate(
  { metadata, spec }: PersistentVolumeClaimTemplate,
  at: FieldPath,
): readonly FieldError[] {
  return [...validateTemplateMeta(metadata, at.child("metadata")), ...validateClaimSpec(spec, at.child("spec"))];
}

export function validateImage(
  { reference, pullPolicy }: ImageVolumeSource,
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const errors = options.allowEmptyImageReference ? [] : requireText(reference, at.child("reference"));
  return [...errors, ...requireOneOf(pullPolicy, pullPolicies, at.child("pullPolicy"))];
}
