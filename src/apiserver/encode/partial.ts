/** Metadata alone: PartialObjectMetadata and its list. */
import type { JsonObject, KubeObject } from "#api";

export function partialObject({ metadata }: KubeObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata } as unknown as JsonObject;
}

export function partialList(objects: readonly KubeObject[], metadata: object, version: string): JsonObject {
  const items = objects.length === 0 ? null : objects.map((object) => partialObject(object, version));
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items,
  } as unknown as JsonObject;
}
