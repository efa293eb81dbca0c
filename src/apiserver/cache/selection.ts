/** The objects of a resource that a list or a watch selects. */
import type { KubeObject } from "#api";
import type { FieldValue } from "./field-index.ts";
import type { StoredObject } from "./stored-object.ts";

export interface Selection {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** In all namespaces, one value of an indexed field; `matches` checks it, too. */
  readonly exactly?: FieldValue | undefined;
  /** Label and field selectors; absent: all. */
  readonly matches?: ((object: KubeObject) => boolean) | undefined;
}

/** Namespace and name are not checked: the cache has looked them up by these. */
export function matcher({ matches }: Selection): (stored: StoredObject) => boolean {
  return matches === undefined ? () => true : (stored) => matches(stored.object);
}
