/** Brings objects of a custom kind from the version that they speak into another. */
import { convertNone, type JsonObject } from "#api";

export type Conversion =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly message: string };

export interface Converter {
  /** Without waiting. Undefined: it has to be waited for. */
  now(object: JsonObject, apiVersion: string): JsonObject | undefined;
  /** Each for itself: one that cannot be converted leaves the others alone. */
  convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly Conversion[]>;
  /** Gives back what it holds; calls under way are finished. */
  close(): void;
}

/** All versions describe the same fields. */
export const noConverter: Converter = {
  now: named,
  convert: async (objects, apiVersion) => objects.map((object) => ({ ok: true, object: named(object, apiVersion) })),
  close: () => {},
};

function named(object: JsonObject, apiVersion: string): JsonObject {
  return convertNone(object as unknown as Parameters<typeof convertNone>[0], apiVersion) as unknown as JsonObject;
}
