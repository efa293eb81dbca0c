/** Which group and version a type belongs to, and which of them share the types of meta/v1. */
import { builtIn, type GroupVersion, optionalKinds, typeSchema } from "#api";
import type { GroupVersionKind } from "./operation.ts";
import { NAMED_FORMS } from "./type-names.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Types that are registered in every group and version, not only in core. */
const EVERYWHERE = new Set([`${META}.DeleteOptions`, `${META}.WatchEvent`]);

/**
 * x-kubernetes-group-version-kind of a type; `shared`: what the document shows for types that are registered
 * everywhere.
 */
export type KindsOfType = (typeName: string, shared: readonly GroupVersion[]) => readonly GroupVersionKind[];

export function kindsOfTypes(): KindsOfType {
  // With the first document, not with the server: it reads the schemas of all kinds, 80 ms at its start.
  let known: ReadonlyMap<string, GroupVersion> | undefined;
  return (typeName, shared) => {
    known ??= homesOfTypes();
    const kind = typeName.slice(typeName.lastIndexOf(".") + 1);
    const home = known.get(packageOf(typeName));
    if (EVERYWHERE.has(typeName)) return shared.map((it) => ({ group: it.group, version: it.version, kind }));
    return home !== undefined && hasTypeMeta(typeName) ? [{ ...home, kind }] : [];
  };
}

function homesOfTypes(): ReadonlyMap<string, GroupVersion> {
  const homes = new Map<string, GroupVersion>([[META, { group: "", version: "v1" }]]);
  for (const { schema, group, version } of [...builtIn, ...optionalKinds])
    homes.set(packageOf(schema.goType ?? ""), { group, version });
  return homes;
}

/** Protobuf does not carry the kind and apiVersion of an object; those of a reference it does. */
function hasTypeMeta(typeName: string): boolean {
  if (NAMED_FORMS.has(typeName)) return false;
  const { fields } = typeSchema(typeName);
  return fields.get("kind")?.number === 0 && fields.get("apiVersion")?.number === 0;
}

function packageOf(typeName: string): string {
  return typeName.slice(0, typeName.lastIndexOf("."));
}
