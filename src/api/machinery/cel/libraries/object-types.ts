/**
 * The types of objects that the expressions of mutating policies make: `Object{spec: Object.spec{replicas: 1}}`.
 *
 * 1. A type is named after the place of its values in the object: `Object`, `Object.spec`, `Object.spec.template` … Items of a list have the type of
 *    the list.
 * 2. Nothing is known of the fields: each name is one, and takes anything. What the object's schema has no place for is found when the patch is
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
