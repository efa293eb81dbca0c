/**
 * What is known of a custom kind without its schema: its names, its verbs, its deprecation. Discovery needs no more.
 */
import type { Kind, ServedSubresource, Verb } from "../machinery/kind.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from "../types/apiextensions-v1.ts";

export type CustomKindNames = Pick<
  Kind,
  "group" | "version" | "kind" | "listKind" | "scope" | "names" | "verbs" | "served"
>;

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const partVerbs: readonly Verb[] = ["get", "patch", "update"];

/** Under the accepted names, if there are any. */
export function customKindNames({ spec, status }: CustomResourceDefinition, version: string): CustomKindNames {
  const names = status?.acceptedNames?.plural ? status.acceptedNames : spec.names;
  const { subresources } = spec.versions.find(({ name }) => name === version) ?? {};
  return {
    group: spec.group,
    version,
    kind: names.kind,
    listKind: names.listKind || undefined,
    scope: spec.scope === "Cluster" ? "Cluster" : "Namespaced",
    names: {
      plural: names.plural,
      singular: names.singular ?? "",
      shortNames: names.shortNames,
      categories: names.categories,
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

export function deprecationOf(
  { group, names, versions }: CustomResourceDefinitionSpec,
  { name, deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
): string | undefined {
  if (deprecated !== true) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const words = `${group}/${name} ${names.kind} is deprecated`;
  const [newest] = versions
    .filter((other) => other.served && other.deprecated !== true && compareVersions(name, other.name) < 0)
    .map((other) => other.name)
    .sort((a, b) => compareVersions(b, a));
  return newest === undefined ? words : `${words}; use ${group}/${newest} ${names.kind}`;
}

const named = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const stability = { alpha: 0, beta: 1, stable: 2 };

/** Negative if `a` is older or less stable. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parse(a), parse(b)];
  if (first === undefined || second === undefined) {
    if (first === undefined && second === undefined) return a < b ? 1 : a > b ? -1 : 0;
    return first === undefined ? -1 : 1;
  }
  return first.stability - second.stability || first.major - second.major || first.minor - second.minor;
}

function parse(version: string): { stability: number; major: number; minor: number } | undefined {
  const [whole, major, stage, minor] = named.exec(version) ?? [];
  if (whole === undefined) return undefined;
  return {
    stability: stability[(stage ?? "stable") as keyof typeof stability],
    major: Number(major),
    minor: Number(minor ?? 0),
  };
}
