/**
 * A definition as Kubernetes keeps it in memory: what all versions have in common stands above them. Faults are
 * reported there: at `spec.validation.openAPIV3Schema…` for a schema that all versions share, at
 * `spec.versions[1].schema.openAPIV3Schema…` for one that only some have.
 */
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from "../../types/apiextensions-v1.ts";

const shared = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

export type VersionParts = Pick<CustomResourceDefinitionVersion, (typeof shared)[number]>;

export interface Hoisted {
  /** What all versions have in common. */
  readonly top: VersionParts;
  /** What remains in each version. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

export function hoist(spec: CustomResourceDefinitionSpec): Hoisted {
  const versions = spec.versions ?? [];
  const first = versions[0];
  if (first === undefined) return { top: {}, versions };
  const common = shared.filter((part) => versions.every((version) => isSame(version[part], first[part])));
  return {
    top: Object.fromEntries(common.map((part) => [part, first[part]])),
    versions: versions.map(
      (version) =>
        Object.fromEntries(
          Object.entries(version).filter(([name]) => !(common as readonly string[]).includes(name)),
        ) as unknown as CustomResourceDefinitionVersion,
    ),
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}

export function schemasOf({ versions }: CustomResourceDefinitionSpec): readonly JSONSchemaProps[] {
  return (versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);
}
