/** What a client has to know of a resource: its path, and the names of its kind. */
import { apiVersionOf, type Kind, type KubeObject, type ResourceName } from "#api";

export { clusterWide, namespaced, type ResourceName } from "#api";

/** A kind with its rules, or a resource by its names: `kinds.Pod`, or a custom one. */
export type ResourceOf<T extends KubeObject> = Kind<T> | ResourceName<T>;

export function resourceName<T extends KubeObject>(resource: ResourceOf<T>): ResourceName {
  if ("apiVersion" in resource) return resource;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    plural: resource.names.plural,
    namespaced: resource.scope === "Namespaced",
  };
}

/** The path of a collection, an object or a subresource. */
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

/** Most names need no encoding. */
function encoded(part: string): string {
  return /^[a-z0-9.-]*$/.test(part) ? part : encodeURIComponent(part);
}
