import { csiDriverNameFaults } from "../core/index.ts";
import { type FieldError, type FieldPath, immutable, invalid, required } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { VolumeAttachment } from "../types/storage-v1.ts";

export function validateAttachment({ spec }: VolumeAttachment, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [...csiDriverNameFaults(spec.attacher, where.child("attacher"))];
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = spec.source;
  const source = where.child("source");
  if (name === undefined && inline === undefined)
    errors.push(required(source, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"));
  else if (name !== undefined && inline !== undefined) {
    errors.push(required(source, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"));
  } else if (name === "") {
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
  const [before, after] = [old.spec as unknown as Json, next.spec as unknown as Json];
  return equalJson(before, after) ? [] : [immutable(path.child("spec"), after)];
}
