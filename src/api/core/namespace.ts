import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import { checkDns1123Label, checkPrefix, checkQualifiedName } from "../machinery/names/names.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { Namespace as NamespaceObject } from "../types/core-v1.ts";

const nameLabel = "kubernetes.io/metadata.name";
const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];
const checkNamePrefix = checkPrefix(checkDns1123Label);

export const Namespace = defineKind<NamespaceObject>("v1", "Namespace", {
  validateName: (name, isPrefix) => (isPrefix ? checkNamePrefix : checkDns1123Label)(name),
  defaults: labelWithName,
  create: {
    prepare: (draft) => {
      // A generated name was not known yet when defaults were applied.
      labelWithName(draft);
      draft.status = { phase: "Active" };
      draft.spec ??= {};
      const finalizers = draft.spec.finalizers ?? [];
      if (!finalizers.includes("kubernetes")) draft.spec.finalizers = [...finalizers, "kubernetes"];
    },
  },
  update: {
    prepare: (draft, old) => {
      draft.spec ??= {};
      if (old.spec?.finalizers === undefined) delete draft.spec.finalizers;
      else draft.spec.finalizers = [...old.spec.finalizers];
    },
  },
  delete: {
    holds: ({ spec }) => (spec?.finalizers ?? []).length > 0,
    mark: (draft) => {
      draft.status = { ...draft.status, phase: "Terminating" };
    },
  },
  validate: ({ spec }, path) =>
    (spec?.finalizers ?? []).flatMap((name) => finalizerFaults(name, path.child("spec", "finalizers"))),
  subresources: {
    status: { validate: validateStatus },
    parts: {
      finalize: {
        verbs: ["update"],
        prepare: (draft, old) => {
          if (old.status === undefined) delete draft.status;
          else draft.status = structuredClone(old.status) as Draft<NamespaceObject>["status"] & object;
        },
        validate: ({ spec }, _old, path) =>
          (spec?.finalizers ?? []).flatMap((name, i) =>
            finalizerFaults(name, path.child("spec", "finalizers").index(i)),
          ),
      },
    },
  },
  columns: [
    {
      name: "Status",
      type: "string",
      description: "The status of the namespace",
      cell: ({ status }) => status?.phase ?? "",
    },
    ageColumn,
  ],
  selectableFields: { names: ["status.phase"], valueOf: ({ status }) => status?.phase ?? "" },
});

function labelWithName({ metadata }: Draft<NamespaceObject>): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name };
}

function finalizerFaults(name: string, where: FieldPath): readonly FieldError[] {
  const errors = checkQualifiedName(name).map((why) => invalid(where, name, why));
  if (!name.includes("/") && !standardFinalizers.includes(name)) {
    errors.push(invalid(where, name, "name is neither a standard finalizer name nor is it fully qualified"));
  }
  return errors;
}

function validateStatus(
  { metadata, status }: NamespaceObject,
  _old: NamespaceObject,
  path: FieldPath,
): readonly FieldError[] {
  const phase = status?.phase ?? "";
  const where = path.child("status", "Phase");
  if (metadata.deletionTimestamp === undefined) {
    return phase === "Active" ? [] : [invalid(where, phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === "Terminating"
    ? []
    : [invalid(where, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}
