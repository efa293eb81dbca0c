import { csiDriverNameFaults, validatePersistentVolumeSpec } from "../core/index.ts";
import { fits, requireText, unchangedField } from "../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
  VolumeError,
} from "../types/storage-v1.ts";

const oneSource = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

const maxMetadataBytes = 256 * 1024;
const maxMessageBytes = 1024;

export function validateAttachment({ spec, status }: VolumeAttachment, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  return [
    ...requireText(spec.attacher, where.child("attacher")),
    ...validateSource(spec.source, where.child("source")),
    ...fits(checkDns1123Subdomain, spec.nodeName, where.child("nodeName")),
    ...(status === undefined ? NO_ERRORS : validateStatus(status, path.child("status"))),
  ];
}

/** What v1 requires of a new object, besides the rules of older versions: an empty attacher is refused twice. */
export function validateNewAttachment({ spec }: VolumeAttachment, path: FieldPath): readonly FieldError[] {
  const { persistentVolumeName: name } = spec.source;
  return [
    ...csiDriverNameFaults(spec.attacher, path.child("spec", "attacher")),
    ...(name === undefined
      ? NO_ERRORS
      : fits(checkDns1123Subdomain, name, path.child("spec", "source", "persistentVolumeName"))),
  ];
}

function validateSource(
  { persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource,
  at: FieldPath,
): readonly FieldError[] {
  if (name === undefined && inline === undefined) return [required(at, oneSource)];
  if (name !== undefined && inline !== undefined) return [forbidden(at, oneSource)];
  if (inline !== undefined)
    return validatePersistentVolumeSpec(inline, at.child("inlineVolumeSpec"), { name: "", inline: true });
  if (name !== "") return NO_ERRORS;
  return [required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName")];
}

function validateStatus(
  { attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus,
  at: FieldPath,
): readonly FieldError[] {
  const size = Object.entries(attachmentMetadata).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return [
    ...(size > maxMetadataBytes ? [tooLong(at.child("attachmentMetadata"), maxMetadataBytes)] : NO_ERRORS),
    ...validateError(attachError, at.child("attachError")),
    ...validateError(detachError, at.child("detachError")),
  ];
}

/** The limit in the message is not that of the check. */
function validateError(error: VolumeError | undefined, at: FieldPath): readonly FieldError[] {
  if (error === undefined) return NO_ERRORS;
  const { message = "", errorCode: code } = error;
  return [
    ...(message.length > maxMessageBytes ? [tooLong(at.child("message"), maxMetadataBytes)] : NO_ERRORS),
    ...(code !== undefined && code < 0
      ? [invalid(at.child("errorCode"), code, "must be between 0 and 2147483647, inclusive")]
      : NO_ERRORS),
  ];
}

export function validateAttachmentUpdate(
  next: VolumeAttachment,
  old: VolumeAttachment,
  path: FieldPath,
): readonly FieldError[] {
  return unchangedField("storage.v1.VolumeAttachment", "spec", next, old, path);
}

export function validateAttachmentStatus(
  next: VolumeAttachment,
  old: VolumeAttachment,
  path: FieldPath,
): readonly FieldError[] {
  return [...validateAttachment(next, path), ...validateAttachmentUpdate(next, old, path)];
}
