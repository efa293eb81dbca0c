/** Metadata alone: PartialObjectMetadata and its list. */
import type { JsonObject, Kind, KubeObject } from "#api";

export function partialObject(kind: Kind, object: KubeObject, version: string): JsonObject {
  const metadata = kind.metadataAlone?.(object) ?? object.metadata;
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata } as unknown as JsonObject;
}

export function partialList(kind: Kind, objects: readonly KubeObject[], metadata: object, version: string): JsonObject {
  const items = objects.length === 0 ? null : objects.map((object) => partialObject(kind, object, version));
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items,
  } as unknown as JsonObject;
}
