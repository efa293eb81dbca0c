/** Pods by controller, and Pods without one. */
import type { KubeObject } from "#api";
import type { Index, ReadonlyCache } from "#client";
import { controllerOf } from "../runtime/index.ts";

export interface OwnedIndexes<T> {
  /** By the uid of the controlling owner. */
  readonly byController: Index<T>;
  /** By namespace. */
  readonly withoutController: Index<T>;
}

export function ownedIndexes<T extends KubeObject>(cache: ReadonlyCache<T>): OwnedIndexes<T> {
  return {
    byController: cache.index("controller", (object) => {
      const uid = controllerOf(object)?.uid;
      return uid === undefined ? [] : [uid];
    }),
    withoutController: cache.index("withoutController", (object) =>
      controllerOf(object) === undefined ? [object.metadata.namespace ?? ""] : [],
    ),
  };
}
