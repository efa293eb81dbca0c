/** The four kinds of patch. */
import type { JsonObject } from "#api";

export type Patch =
  /** RFC 6902: a list of operations. */
  | { readonly type: "json"; readonly operations: readonly JsonObject[] }
  /** RFC 7386: fields are set, null removes, lists are replaced. */
  | { readonly type: "merge"; readonly object: JsonObject }
  /** Like merge, but lists are merged by the keys that the kind's schema names. Not for custom resources. */
  | { readonly type: "strategic"; readonly object: JsonObject }
  /** Server-side apply; needs a fieldManager. */
  | { readonly type: "apply"; readonly object: JsonObject };

const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export function patchBody(patch: Patch): { readonly contentType: string; readonly value: object } {
  return { contentType: TYPES[patch.type], value: patch.type === "json" ? patch.operations : patch.object };
}
