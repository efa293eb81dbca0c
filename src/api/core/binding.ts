import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, notSupported, required } from "../machinery/errors/field-error.ts";
import type { Binding as BindingObject } from "../types/core-v1.ts";

/** Never stored: it moves a Pod to a Node. */
export const Binding = defineKind<BindingObject>("v1", "Binding", { validate: validateBinding });

function validateBinding({ target }: BindingObject, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { kind = "", name = "" } = target;
  if (kind !== "" && kind !== "Node")
    errors.push(notSupported(path.child("target", "kind"), kind, ["Node", "<empty>"]));
  if (name === "") errors.push(required(path.child("target", "name")));
  return errors;
}
