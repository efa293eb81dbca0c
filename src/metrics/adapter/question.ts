/**
 * Paths of custom and external metrics.
 *
 *     custom.metrics.k8s.io/VERSION/namespaces/NS/RESOURCE/NAME/METRIC  of an object, or of several (NAME is *)
 *     custom.metrics.k8s.io/VERSION/RESOURCE/NAME/METRIC                    of objects without a namespace
 *     custom.metrics.k8s.io/VERSION/namespaces/NS/metrics/METRIC            of a namespace itself
 *     external.metrics.k8s.io/v1beta1/namespaces/NS/METRIC
 *
 * 1. Empty parts do not count, as in authorization: `namespaces//pods/…` is not about all namespaces.
 */
import { CUSTOM, CUSTOM_VERSIONS, EXTERNAL } from "./documents.ts";
import { type GroupResource, groupResource } from "./source.ts";

export type Asked =
  | {
      readonly of: "objects";
      readonly version: string;
      readonly resource: GroupResource;
      /** Empty: the resource has no namespace. */
      readonly namespace: string;
      /** Undefined: those that a selector names. */
      readonly name: string | undefined;
      readonly metric: string;
    }
  | { readonly of: "external"; readonly namespace: string; readonly metric: string };

export function askedBy(pathname: string): Asked | undefined {
  const [apis, group, version = "", ...parts] = pathname.split("/").filter(Boolean).map(decoded);
  if (apis !== "apis") return undefined;
  if (group === EXTERNAL && version === "v1beta1") {
    const [namespaces, namespace, metric, ...more] = parts;
    if (namespaces !== "namespaces" || !namespace || !metric || more.length > 0) return undefined;
    return { of: "external", namespace, metric };
  }
  if (group !== CUSTOM || !CUSTOM_VERSIONS.includes(version)) return undefined;
  const objects = (resource: string, namespace: string, name: string, metric: string): Asked => ({
    of: "objects",
    version,
    resource: groupResource(resource),
    namespace,
    name: name === "*" ? undefined : name,
    metric,
  });
  const [first = "", second = "", third = "", fourth, fifth] = parts;
  if (first === "namespaces" && parts.length === 4 && third === "metrics" && fourth)
    return objects("namespaces", "", second, fourth);
  if (first === "namespaces" && parts.length === 5 && fourth && fifth) return objects(third, second, fourth, fifth);
  if (parts.length === 3 && second && third) return objects(first, "", second, third);
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
