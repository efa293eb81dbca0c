/**
 * One version of a definition as a Kind, which the server serves like a built-in one.
 *
 *     definition, version ──► structural schema ──► form, checks, rules, columns ──► Kind
 *
 * 1. Everything is compiled once, on first use: an unused definition costs little. A Kind is immutable; a new
 *    definition makes new Kinds.
 */
import { equalJson } from "../machinery/json/equal.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { Kind, SelectableFields, Subresources } from "../machinery/kind.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import { once } from "../machinery/schema/memo.ts";
import type { Draft, KubeObject } from "../machinery/schema/object.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  JSONSchemaProps,
} from "../types/apiextensions-v1.ts";
import { customColumns } from "./custom-columns.ts";
import { customKindNames, deprecationOf } from "./custom-kind-names.ts";
import { compileValidation } from "./custom-validation.ts";
import { compileJsonPath } from "./json-path.ts";
import { scaleRules } from "./scale.ts";
import { compileForm } from "./schema/form.ts";
import { objectSchemaOf } from "./schema/object-schema.ts";
import { structuralOf } from "./schema/structural.ts";

export interface CustomKind extends Kind {
  /**
   * A fresh copy of an object from the store or a conversion webhook, in the form of this version: pruned, metadata
   * decoded, defaults applied. Objects that were written under an older definition are read by the present one.
   */
  read(object: KubeObject): KubeObject;
  /** An object is created without a status; the schema's default provides one on reads. */
  readonly givesStatus: boolean;
}

/** Throws a NotStructuralError for an old schema that is not structural: such kinds cannot be served. */
export function compileCustomKind(definition: CustomResourceDefinition, version: string): CustomKind {
  const { spec } = definition;
  const described = spec.versions.find(({ name }) => name === version);
  if (described === undefined) throw new Error(`${definition.metadata.name} has no version ${version}`);
  const { subresources } = described;
  const root = structuralOf(schemaOf(described));
  const form = once(() => compileForm(root, spec.preserveUnknownFields === true));
  const schema = once(() => objectSchemaOf(root, form()));
  const validation = once(() => compileValidation(root, subresources?.scale));
  const hasStatus = subresources?.status !== undefined;
  return {
    ...customKindNames(definition, version),
    get schema() {
      return schema();
    },
    metaChecks: { plainFinalizers: true },
    generation: hasStatus ? "spec" : { changed: differs },
    create: {
      prepare: (draft) => {
        if (hasStatus) delete (draft as Draft<KubeObject> & { status?: Json }).status;
      },
      validate: (object) => validation().create(object),
    },
    update: {
      allowUnconditional: false,
      validate: (object, old) => validation().update(object, old),
    },
    subresources: subresourcesOf(subresources, (object, old) => validation().status(object, old)),
    columns: customColumns(described.additionalPrinterColumns),
    selectableFields: selectableFields(described),
    deprecated: deprecationOf(spec, described),
    warnings: (object, old) => [...finalizerWarnings(object, old), ...validation().warnings(object)],
    givesStatus: hasStatus && root.properties.get("status")?.default !== undefined,
    read: (object) => form().read(object as unknown as JsonObject) as unknown as KubeObject,
  };
}

function schemaOf({ schema }: CustomResourceDefinitionVersion): JSONSchemaProps {
  return schema?.openAPIV3Schema ?? { type: "object" };
}

/** Without a status subresource, a change of `status` counts as any other. */
function differs(next: KubeObject, old: KubeObject): boolean {
  const { metadata: _, ...after } = next as unknown as JsonObject;
  const { metadata: __, ...before } = old as unknown as JsonObject;
  return !equalJson(after, before);
}

function subresourcesOf(
  subresources: CustomResourceSubresources | undefined,
  validate: (object: KubeObject, old: KubeObject) => ReturnType<NonNullable<Kind["validate"]>>,
): Subresources<KubeObject> {
  return {
    ...(subresources?.status !== undefined && { status: { keeps: "nothing" as const, validate } }),
    ...(subresources?.scale !== undefined && { scale: scaleRules(subresources.scale) }),
  };
}

function selectableFields({
  selectableFields: fields = [],
}: CustomResourceDefinitionVersion): SelectableFields<KubeObject> {
  const paths = new Map(fields.map(({ jsonPath }) => [jsonPath.replace(/^\./, ""), compileJsonPath(jsonPath)]));
  return {
    names: [...paths.keys()],
    valueOf: (object, name) => {
      const value = paths.get(name)?.(object as unknown as Json)[0];
      return value === undefined || value === null ? "" : String(value);
    },
  };
}

const standard = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

export function finalizerWarnings(object: KubeObject, old: KubeObject | undefined): readonly string[] {
  const before = new Set(old?.metadata.finalizers ?? []);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !before.has(name)));
  return [...added].sort().flatMap(warningsOf);
}

function warningsOf(name: string): readonly string[] {
  const faults = [...checkQualifiedName(name)];
  if (!name.includes("/") && !standard.has(name)) {
    const how = name.includes(".") ? " including a path (/)" : "";
    faults.push(
      `prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`,
    );
  }
  return faults.map((fault) => `metadata.finalizers: ${goQuote(name)}: ${fault}`);
}

/** The object itself if it already has that version. */
export function convertNone<T extends KubeObject>(object: T, toApiVersion: string): T {
  return object.apiVersion === toApiVersion ? object : { ...object, apiVersion: toApiVersion };
}
