/** What a client has to know of a resource to speak of it: where its objects are, and what they are called. */
import { apiVersionOf, type Kind, type KubeObject } from "#api";

/** A resource that has no Kind value here, such as a custom one. */
export interface ResourceName {
  /** As objects write it: `v1`, `example.com/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export type ResourceOf<T extends KubeObject> = Kind<T> | ResourceName;

export function resourceName<T extends KubeObject>(resource: ResourceOf<T>): ResourceName {
  if ("apiVersion" in resource) return resource;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    plural: resource.names.plural,
    namespaced: resource.scope === "Namespaced",
  };
}

/** The path of a collection, or of what stands behind it: a name, a subresource. */
export function resourcePath(
  { apiVersion, plural, namespaced }: ResourceName,
  namespace: string | undefined,
  ...behind: string[]
): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encoded(namespace)}` : "";
  let path = `${root}${scope}/${plural}`;
  for (const part of behind) path += `/${encoded(part)}`;
  return path;
}

/** Most names have nothing to encode, and looking is quicker than encoding. */
function encoded(part: string): string {
  return /^[a-z0-9.-]*$/.test(part) ? part : encodeURIComponent(part);
}

/** A resource by its names alone: for those who need none of its rules. */
export function namespaced<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceOf<T> {
  return { apiVersion, kind, plural, namespaced: true };
}

/** As `namespaced`, for resources of the whole cluster. */
export function clusterWide<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceOf<T> {
  return { apiVersion, kind, plural, namespaced: false };
}
