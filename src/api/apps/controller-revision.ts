/** ControllerRevision: a former state of a StatefulSet or DaemonSet. Its data is immutable. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { nonNegative, unchanged } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, required } from "../machinery/errors/field-error.ts";
import type { OwnerReference } from "../machinery/schema/object.ts";
import type { ControllerRevision as ControllerRevisionObject } from "../types/apps-v1.ts";

export const ControllerRevision = defineKind<ControllerRevisionObject>("apps/v1", "ControllerRevision", {
  validate,
  update: { validate: ({ data }, old, at) => unchanged(data, old.data, at.child("data")) },
  columns: [
    {
      name: "Controller",
      type: "string",
      description: "Controller of the object",
      cell: ({ metadata }) => controllerText(metadata.ownerReferences?.find(({ controller }) => controller === true)),
    },
    {
      name: "Revision",
      type: "string",
      doc: "io.k8s.api.apps.v1.ControllerRevision.revision",
      cell: ({ revision }) => revision ?? 0,
    },
    ageColumn,
  ],
});

function validate({ data, revision }: ControllerRevisionObject, at: FieldPath): readonly FieldError[] {
  const missing = data === undefined || data === null ? [required(at.child("data"), "data is mandatory")] : [];
  return [...missing, ...nonNegative(revision, at.child("revision"))];
}

/** `statefulset.apps/web`, or `node/a` for the core group. */
function controllerText(owner: OwnerReference | undefined): string {
  if (owner === undefined) return "<none>";
  const slash = owner.apiVersion.indexOf("/");
  const kind = owner.kind.toLowerCase();
  return `${slash < 0 ? kind : `${kind}.${owner.apiVersion.slice(0, slash)}`}/${owner.name}`;
}
