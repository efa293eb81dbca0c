/** Validation of a definition, in the order in which Kubernetes reports faults. */
import {
  at,
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { checkDns1035Label, checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "../../types/apiextensions-v1.ts";
import { validateApiApproval } from "./conditions.ts";
import { conversionFaults } from "./conversion.ts";
import { type Hoisted, hoist, schemasOf, type VersionParts } from "./hoisted.ts";
import { shownVersions } from "./internal-json.ts";
import { columnFaults, deprecationFaults, nameFaults, selectableFieldFaults, subresourceFaults } from "./parts.ts";
import { ofChange, ofNew, type Requirements } from "./requirements.ts";
import { someSchema } from "./schema-facts.ts";
import { schemaFaults } from "./schema-rules.ts";

const SPEC = at("spec");
const STATUS = at("status");
const scopes = ["Cluster", "Namespaced"];

export function validateNew(definition: CustomResourceDefinition): readonly FieldError[] {
  const { metadata, spec } = definition;
  const named = `${spec.names.plural}.${spec.group}`;
  const { name = "" } = metadata;
  const misnamed = name !== "" && name !== named;
  return [
    ...(misnamed ? [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')] : []),
    ...specFaults(spec, ofNew),
    ...restFaults(definition, undefined),
  ];
}

export function validateChange(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): readonly FieldError[] {
  const requirements = ofChange(definition, old);
  const { spec } = definition;
  return [
    ...specFaults(spec, requirements),
    ...(requirements.fixedNames
      ? [
          ...fixed(spec.scope, old.spec.scope, SPEC.child("scope")),
          ...fixed(spec.names.kind, old.spec.names.kind, SPEC.child("names", "kind")),
        ]
      : []),
    ...fixed(spec.group, old.spec.group, SPEC.child("group")),
    ...fixed(spec.names.plural, old.spec.names.plural, SPEC.child("names", "plural")),
    ...restFaults(definition, old),
  ];
}

export function validateStatus({ status }: CustomResourceDefinition): readonly FieldError[] {
  return nameFaults(status?.acceptedNames ?? { plural: "", kind: "" }, STATUS.child("acceptedNames"));
}

function fixed(value: string, before: string, path: FieldPath): readonly FieldError[] {
  return value === before ? [] : [immutable(path, value)];
}

function restFaults(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): readonly FieldError[] {
  const { spec, status } = definition;
  return [
    ...validateStatus(definition),
    ...storedVersionFaults(status?.storedVersions ?? [], spec.versions ?? []),
    ...validateApiApproval(definition, old),
    ...preserveFaults(spec, old?.spec),
  ];
}

function storedVersionFaults(
  stored: readonly string[],
  versions: readonly CustomResourceDefinitionVersion[],
): readonly FieldError[] {
  const path = STATUS.child("storedVersions");
  if (stored.length === 0) return [invalid(path, null, "must have at least one stored version")];
  const missing = versions.filter(({ name, storage }) => storage && !stored.includes(name));
  const errors = missing.map(({ name }) => invalid(path, stored, `must have the storage version ${name}`));
  for (const [i, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const words = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(path.index(i), name, words));
  }
  return errors;
}

function preserveFaults(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
): readonly FieldError[] {
  if (spec.preserveUnknownFields !== true || old?.preserveUnknownFields === true) return [];
  const words =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalid(SPEC.child("preserveUnknownFields"), true, words)];
}

function specFaults(spec: CustomResourceDefinitionSpec, requirements: Requirements): readonly FieldError[] {
  const hoisted = hoist(spec);
  const preserves = spec.preserveUnknownFields === true;
  const hasDefaults = schemasOf(spec).some((schema) => someSchema(schema, (inner) => (inner.default ?? null) !== null));
  const structural = !preserves || requirements.structural || hasDefaults || hasExtensions(spec);
  const { conversion } = spec;
  const strategy = conversion?.strategy ?? "None";
  return [
    ...groupFaults(spec.group),
    ...(spec.scope ? [] : [required(SPEC.child("scope"))]),
    ...(spec.scope && !scopes.includes(spec.scope) ? [notSupported(SPEC.child("scope"), spec.scope, scopes)] : []),
    ...missingSchemas(hoisted, requirements, preserves),
    ...(hasDefaults && preserves
      ? [invalid(SPEC.child("preserveUnknownFields"), true, "must be false in order to use defaults in the schema")]
      : []),
    ...hoisted.versions.flatMap((version, i) => versionFaults(version, i, hoisted, requirements, structural)),
    ...versionSetFaults(spec, hoisted),
    ...missingNames(spec),
    ...nameFaults(spec.names, SPEC.child("names")),
    ...topFaults(spec, hoisted, requirements, structural),
    ...(strategy !== "None" && preserves
      ? [invalid(SPEC.child("conversion", "strategy"), strategy, "must be None if spec.preserveUnknownFields is true")]
      : []),
    ...conversionFaults(conversion, requirements, SPEC.child("conversion")),
  ];
}

const extensions = [
  "x-kubernetes-embedded-resource",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-list-type",
  "x-kubernetes-validations",
] as const;

function hasExtensions(spec: CustomResourceDefinitionSpec): boolean {
  return schemasOf(spec).some((schema) =>
    someSchema(schema, (inner) => extensions.some((extension) => inner[extension] !== undefined)),
  );
}

function groupFaults(group: string): readonly FieldError[] {
  const path = SPEC.child("group");
  if (group === "") return [required(path)];
  const wrong = checkDns1123Subdomain(group);
  if (wrong.length > 0) return [invalid(path, group, wrong.join(","))];
  return group.includes(".") ? [] : [invalid(path, group, "should be a domain with at least one dot")];
}

function missingSchemas(
  { top, versions }: Hoisted,
  requirements: Requirements,
  preserves: boolean,
): readonly FieldError[] {
  if (top.schema?.openAPIV3Schema !== undefined || (!requirements.schema && preserves)) return [];
  const words = requirements.schema ? "" : "because otherwise all fields are pruned";
  return versions.flatMap(({ schema, served }, i) => {
    const fine = schema?.openAPIV3Schema !== undefined || (!requirements.schema && !served);
    return fine ? [] : [required(SPEC.child("versions").index(i).child("schema", "openAPIV3Schema"), words)];
  });
}

function versionFaults(
  version: CustomResourceDefinitionVersion,
  i: number,
  { top }: Hoisted,
  requirements: Requirements,
  requireStructural: boolean,
): readonly FieldError[] {
  const path = SPEC.child("versions").index(i);
  const { name, deprecated = false, deprecationWarning, schema, subresources } = version;
  const wrong = checkDns1035Label(name);
  const anyCost = requirements.unchangedSchemas.has(name);
  const hasStatus = (subresources ?? top.subresources)?.status !== undefined;
  return [
    ...(wrong.length > 0 ? [invalid(path.child("name"), name, wrong.join(","))] : []),
    ...deprecationFaults(deprecated, deprecationWarning).map((why) =>
      invalid(path.child("deprecationWarning"), deprecationWarning ?? "", why),
    ),
    ...schemaFaults(schema, path.child("schema"), { requirements, requireStructural, hasStatus, anyCost }),
    ...partFaults(version, path),
    ...selectableFaults(version, path, path.child("schema.openAPIV3Schema"), requirements.oversized.has(name)),
  ];
}

function partFaults({ subresources, additionalPrinterColumns }: VersionParts, path: FieldPath): readonly FieldError[] {
  return [
    ...subresourceFaults(subresources, path.child("subresources")),
    ...columnFaults(additionalPrinterColumns, path.child("additionalPrinterColumns")),
  ];
}

function selectableFaults(
  { schema, selectableFields = [] }: VersionParts,
  path: FieldPath,
  schemaPath: FieldPath,
  oversized: boolean,
): readonly FieldError[] {
  if (selectableFields.length === 0) return [];
  const where = path.child("selectableFields");
  const described = schema?.openAPIV3Schema;
  if (described === undefined)
    return [invalid(where, "", "may only be set when `version.schema.openAPIV3Schema` is not included")];
  return selectableFieldFaults(selectableFields, described, where, schemaPath, oversized);
}

/** What all versions share. */
function topFaults(
  spec: CustomResourceDefinitionSpec,
  { top }: Hoisted,
  requirements: Requirements,
  requireStructural: boolean,
): readonly FieldError[] {
  const versions = spec.versions ?? [];
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined);
  const anyCost = requirements.unchangedSchemas.has(versions[0]?.name ?? "");
  const context = { requirements, requireStructural, hasStatus, anyCost };
  const { selectableFields = [], schema } = top;
  const unschemed = selectableFields.length > 0 && schema === undefined;
  return [
    ...schemaFaults(schema, SPEC.child("validation"), context),
    ...partFaults(top, SPEC),
    ...(unschemed
      ? [invalid(SPEC.child("selectableFields"), "", "may only be set when validations.schema is included")]
      : selectableFaults(top, SPEC, SPEC.child("schema.openAPIV3Schema"), requirements.oversized.has(""))),
  ];
}

function versionSetFaults(spec: CustomResourceDefinitionSpec, hoisted: Hoisted): readonly FieldError[] {
  const versions = spec.versions ?? [];
  const path = SPEC.child("versions");
  const shown = () => shownVersions(spec.versions ? hoisted.versions : undefined);
  const first = versions[0]?.name ?? "";
  const wrong = first === "" ? [] : checkDns1035Label(first);
  return [
    ...(new Set(versions.map(({ name }) => name)).size < versions.length
      ? [invalid(path, shown(), "must contain unique version names")]
      : []),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [invalid(path, shown(), "must have exactly one version marked as storage version")]),
    ...(wrong.length > 0 ? [invalid(SPEC.child("version"), first, wrong.join(","))] : []),
  ];
}

function missingNames({ names }: CustomResourceDefinitionSpec): readonly FieldError[] {
  return (["plural", "singular", "kind", "listKind"] as const).flatMap((name) =>
    names[name] ? [] : [required(SPEC.child("names", name))],
  );
}
