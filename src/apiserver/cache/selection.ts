/** Which objects of a resource a list or a watch is about. */
import type { KubeObject } from "#api";
import type { FieldValue } from "./field-index.ts";
import type { StoredObject } from "./stored-object.ts";

export interface Selection {
  readonly namespace?: string;
  readonly name?: string;
  /** In all namespaces, the one value of a field that is indexed; `matches` asks for it too. */
  readonly exactly?: FieldValue;
  /** Label and field selectors; absent: all. */
  readonly matches?: (object: KubeObject) => boolean;
}

/** Namespace and name are not asked for again: they are where the cache looked. */
export function matcher({ matches }: Selection): (stored: StoredObject) => boolean {
  return matches === undefined ? () => true : (stored) => matches(stored.object);
}
