/**
 * The requirements on a definition. A new one must meet all of them; a change only those that the old definition met,
 * so that old definitions can still be updated.
 */
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from "../../types/apiextensions-v1.ts";
import { isConditionTrue, nonStructuralViolations } from "./conditions.ts";
import { caBundleFault } from "./conversion.ts";
import { hasUnprunedDefaults } from "./default-rules.ts";
import { hoist, schemasOf } from "./hoisted.ts";
import { nonAtomicSet, openApiTypes, someSchema, unkeyedList } from "./schema-facts.ts";

export interface Requirements {
  readonly knownReviewVersion: boolean;
  /** Scope and kind are immutable: objects may exist. */
  readonly fixedNames: boolean;
  readonly schema: boolean;
  readonly structural: boolean;
  readonly knownTypes: boolean;
  readonly prunedDefaults: boolean;
  readonly atomicSets: boolean;
  readonly keyedLists: boolean;
  readonly validCaBundle: boolean;
  /** Versions whose schema has not changed: the cost of their single rules is not limited. */
  readonly unchangedSchemas: ReadonlySet<string>;
  /** Versions that may keep more selectable fields than allowed; "" for the shared ones. */
  readonly oversized: ReadonlySet<string>;
}

export const ofNew: Requirements = {
  knownReviewVersion: true,
  fixedNames: false,
  schema: true,
  structural: true,
  knownTypes: true,
  prunedDefaults: true,
  atomicSets: true,
  keyedLists: true,
  // Not required before the definition is served.
  validCaBundle: false,
  unchangedSchemas: new Set(),
  oversized: new Set(),
};

export const reviewVersions: readonly string[] = ["v1", "v1beta1"];
export const maxSelectableFields = 8;

export function ofChange(definition: CustomResourceDefinition, old: CustomResourceDefinition): Requirements {
  const schemas = schemasOf(old.spec);
  const none = (matches: (schema: JSONSchemaProps) => boolean) => !schemas.some((root) => someSchema(root, matches));
  const asked = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const established = isConditionTrue(old, "Established");
  const bundle = old.spec.conversion?.webhook?.clientConfig?.caBundle ?? "";
  return {
    knownReviewVersion: asked.length === 0 || asked.some((version) => reviewVersions.includes(version)),
    fixedNames: established,
    schema: schemas.length === (old.spec.versions ?? []).length,
    structural: schemas.every((schema) => nonStructuralViolations(schema).length === 0),
    knownTypes: none(({ type }) => Boolean(type) && !openApiTypes.includes(type ?? "")),
    prunedDefaults: !schemas.some(hasUnprunedDefaults),
    atomicSets: none((schema) => nonAtomicSet(schema) !== undefined),
    keyedLists: none((schema) => unkeyedList(schema)),
    validCaBundle: established && (bundle === "" || caBundleFault(bundle) === undefined),
    unchangedSchemas: unchangedSchemas(definition.spec, old.spec),
    oversized: oversized(definition.spec, old.spec),
  };
}

function unchangedSchemas(
  { versions }: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
): ReadonlySet<string> {
  const same = (versions ?? []).filter(({ name, schema }) => {
    const before = (old.versions ?? []).find((version) => version.name === name);
    return before !== undefined && isSame(schema, before.schema);
  });
  return new Set(same.map(({ name }) => name));
}

function oversized(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec): ReadonlySet<string> {
  const names = new Set<string>();
  const [is, was] = [hoist(spec), hoist(old)];
  const keeps = (now: readonly unknown[] | undefined, before: readonly unknown[] | undefined) =>
    (before ?? []).length > maxSelectableFields && isSame(now, before);
  if (keeps(is.top.selectableFields, was.top.selectableFields)) names.add("");
  for (const { name, selectableFields } of is.versions) {
    const before = was.versions.find((version) => version.name === name);
    if (before !== undefined && keeps(selectableFields, before.selectableFields)) names.add(name);
  }
  return names;
}

function isSame(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}
