/**
 * The types of the objects that expressions of mutating policies construct: `Object{spec: Object.spec{replicas: 1}}`.
 *
 * 1. A type is named after the path of its values: `Object`, `Object.spec`, `Object.spec.template` … Items of a list
 *    have the type of the list.
 * 2. Every field name is accepted, with any value. Fields that the schema does not have are found when the patch is
 *    applied.
 */
import type { Library } from "../functions/function.ts";
import { dyn, type Field, type ObjectType, object } from "../values/type.ts";

const ROOT = "Object";

class AnyFields extends Map<string, Field> {
  override get(name: string): Field {
    return { json: name, type: dyn };
  }

  override has(): boolean {
    return true;
  }
}

const anyFields = new AnyFields();

export const objectType: ObjectType = object(ROOT, anyFields);

export const objectTypes: Library = {
  name: "kubernetes.objects",
  typeNamed: (name) => (name === ROOT || name.startsWith(`${ROOT}.`) ? object(name, anyFields) : undefined),
};
