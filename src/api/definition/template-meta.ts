/** Metadata of a template, which becomes that of other objects: only labels and annotations are passed on. */
import { type FieldError, type FieldPath, forbidden, NO_ERRORS } from "../machinery/errors/field-error.ts";
import { sentEmpty } from "../machinery/json/sent-empty.ts";
import { validateLabels } from "../machinery/names/labels.ts";
import { validateAnnotations } from "../machinery/object-meta.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";

export function validateTemplateMeta(metadata: Partial<ObjectMeta> | undefined, at: FieldPath): readonly FieldError[] {
  if (metadata === undefined) return NO_ERRORS;
  const { labels, annotations, ...others } = metadata;
  return [
    ...validateAnnotations(annotations, at.child("annotations")),
    ...validateLabels(labels, at.child("labels")),
    ...[
      ...Object.entries(others).flatMap(([name, value]) => (isSet(name, value) ? [name] : [])),
      ...emptyLists(metadata),
    ].map((name) => forbidden(at.child(name === "uid" ? "uID" : name), "cannot be set")),
  ];
}

/** An empty list is set: only an absent one has Go's zero value. */
function emptyLists(metadata: Partial<ObjectMeta>): readonly string[] {
  return ["ownerReferences", "finalizers", "managedFields"].filter((name) => sentEmpty(metadata, name) !== undefined);
}

/** `deletionGracePeriodSeconds` is a pointer. */
function isSet(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return value !== 0 || name !== "generation";
}
