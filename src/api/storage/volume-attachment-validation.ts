import { csiDriverNameFaults } from "../core/index.ts";
import { unchangedField } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { VolumeAttachment } from "../types/storage-v1.ts";

const oneSource = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

export function validateAttachment({ spec }: VolumeAttachment, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [...csiDriverNameFaults(spec.attacher, where.child("attacher"))];
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = spec.source;
  const source = where.child("source");
  if (name === undefined && inline === undefined) errors.push(required(source, oneSource));
  else if (name !== undefined && inline !== undefined) errors.push(forbidden(source, oneSource));
  else if (name === "") {
    errors.push(required(source.child("persistentVolumeName"), "must specify non empty persistentVolumeName"));
  } else if (name !== undefined) {
    for (const why of checkDns1123Subdomain(name))
      errors.push(invalid(source.child("persistentVolumeName"), name, why));
  }
  for (const why of checkDns1123Subdomain(spec.nodeName))
    errors.push(invalid(where.child("nodeName"), spec.nodeName, why));
  return errors;
}

export function validateAttachmentUpdate(
  next: VolumeAttachment,
  old: VolumeAttachment,
  path: FieldPath,
): readonly FieldError[] {
  return unchangedField("storage.v1.VolumeAttachment", "spec", next, old, path);
}
