/** What is known of a custom kind without its schema: how it is called, and what can be done with it. Discovery needs no more. */
import type { Kind, ServedSubresource, Verb } from "../machinery/kind.ts";
import type { CustomResourceDefinition, CustomResourceSubresources } from "../types/apiextensions-v1.ts";

export type CustomKindNames = Pick<
  Kind,
  "group" | "version" | "kind" | "listKind" | "scope" | "names" | "verbs" | "served"
>;

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const partVerbs: readonly Verb[] = ["get", "patch", "update"];

/** Under the names that it was given, if it was given any. */
export function customKindNames({ spec, status }: CustomResourceDefinition, version: string): CustomKindNames {
  const names = status?.acceptedNames?.plural ? status.acceptedNames : spec.names;
  const { subresources } = spec.versions.find(({ name }) => name === version) ?? {};
  return {
    group: spec.group,
    version,
    kind: names.kind,
    ...(names.listKind && { listKind: names.listKind }),
    scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
    names: {
      plural: names.plural,
      singular: names.singular ?? "",
      ...(names.shortNames && { shortNames: names.shortNames }),
      ...(names.categories && { categories: names.categories }),
    },
    verbs,
    served: servedOf(spec.group, version, names.kind, subresources),
  };
}

function servedOf(
  group: string,
  version: string,
  kind: string,
  subresources: CustomResourceSubresources | undefined,
): readonly ServedSubresource[] {
  const served: ServedSubresource[] = [];
  if (subresources?.status !== undefined) {
    const typeName = [...group.split(".").reverse(), version, kind].join(".");
    served.push({ name: "status", group, version, kind, verbs: partVerbs, typeName });
  }
  if (subresources?.scale !== undefined) {
    const typeName = "io.k8s.api.autoscaling.v1.Scale";
    served.push({ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: partVerbs, typeName });
  }
  return served;
}
