/** A finalizer that protects objects in use from deletion. Objects that were created without it get it later. */
import type { KubeObject } from "#api";
import type { AnyResource, Write } from "../runtime/index.ts";

/** What to do with an object, before it is known whether it is in use. */
export function protection({ metadata }: KubeObject, finalizer: string): "add" | "remove if unused" | "nothing" {
  const has = metadata.finalizers?.includes(finalizer) ?? false;
  if (metadata.deletionTimestamp !== undefined) return has ? "remove if unused" : "nothing";
  return has ? "nothing" : "add";
}

export function withFinalizer(resource: AnyResource, object: KubeObject, finalizer: string): Write {
  return finalizers(resource, object, [...(object.metadata.finalizers ?? []), finalizer]);
}

export function withoutFinalizer(resource: AnyResource, object: KubeObject, finalizer: string): Write {
  return finalizers(
    resource,
    object,
    (object.metadata.finalizers ?? []).filter((each) => each !== finalizer),
  );
}

function finalizers(resource: AnyResource, object: KubeObject, next: readonly string[]): Write {
  return { verb: "update", resource, object: { ...object, metadata: { ...object.metadata, finalizers: next } } };
}
