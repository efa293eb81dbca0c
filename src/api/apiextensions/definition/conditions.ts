/**
 * The conditions of a definition: NamesAccepted, KubernetesAPIApprovalPolicyConformant, NonStructuralSchema.
 *
 * 1. In one group, a name belongs to the first definition that was given it. A definition keeps its accepted names
 *    until it asks for others that are free.
 * 2. Plural, singular and short names share one space, kind and list kind another.
 * 3. Where several names are taken, the condition names the last one, as Kubernetes does.
 */
import {
  aggregate,
  at,
  type FieldError,
  fieldErrorText,
  invalid,
  required,
} from "../../machinery/errors/field-error.ts";
import { goQuote } from "../../machinery/json/go-text.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  JSONSchemaProps,
} from "../../types/apiextensions-v1.ts";
import { NotStructuralError, structuralOf } from "../schema/structural.ts";
import { structuralFaults } from "../schema/structural-rules.ts";

export interface AcceptedNames {
  /** For status.acceptedNames. */
  readonly names: CustomResourceDefinitionNames;
  /** The condition NamesAccepted. */
  readonly condition: ConditionFacts;
}

/** `all`: every definition; those of other groups are ignored, and the definition itself may be among them. */
export function acceptNames(
  definition: CustomResourceDefinition,
  all: Iterable<CustomResourceDefinition>,
): AcceptedNames {
  const { resources, kinds } = takenNames(definition.spec.group, all);
  const asked = definition.spec.names;
  const had = definition.status?.acceptedNames ?? { plural: "", kind: "" };
  let conflict: Conflict | undefined;

  const one = (name: string, before: string, taken: ReadonlySet<string>, reason: string): string => {
    if (name === before || !taken.has(name)) return name;
    conflict = { reason, message: inUse(name) };
    return before;
  };
  const plural = one(asked.plural, had.plural, resources, "PluralConflict");
  const singular = one(asked.singular ?? "", had.singular ?? "", resources, "SingularConflict");
  const shorts = acceptShortNames(asked.shortNames ?? [], had.shortNames ?? [], resources);
  conflict = shorts.conflict ?? conflict;
  const kind = one(asked.kind, had.kind, kinds, "KindConflict");
  const listKind = one(asked.listKind ?? "", had.listKind ?? "", kinds, "ListKindConflict");

  const names: CustomResourceDefinitionNames = {
    plural,
    ...(singular !== "" && { singular }),
    ...(shorts.names.length > 0 && { shortNames: shorts.names }),
    kind,
    ...(listKind !== "" && { listKind }),
    ...((asked.categories ?? []).length > 0 && { categories: asked.categories ?? [] }),
  };
  return { names, condition: conditionOf(conflict) };
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function conditionOf(conflict: Conflict | undefined): ConditionFacts {
  if (conflict !== undefined) return { status: "False", ...conflict };
  return { status: "True", reason: "NoConflicts", message: "no conflicts found" };
}

function acceptShortNames(
  asked: readonly string[],
  had: readonly string[],
  taken: ReadonlySet<string>,
): { readonly names: readonly string[]; readonly conflict?: Conflict } {
  const refused = asked.filter((name) => !had.includes(name) && taken.has(name));
  if (refused.length === 0) return { names: asked };
  return { names: had, conflict: { reason: "ShortNamesConflict", message: aggregate(refused.map(inUse)) } };
}

function inUse(name: string): string {
  return `${goQuote(name)} is already in use`;
}

function takenNames(
  group: string,
  all: Iterable<CustomResourceDefinition>,
): { readonly resources: ReadonlySet<string>; readonly kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of all) {
    if (spec.group !== group) continue;
    const { plural = "", singular = "", shortNames = [], kind = "", listKind = "" } = status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

export interface ConditionFacts {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function isConditionTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}

const annotation = "api-approved.kubernetes.io";
const where = "see https://github.com/kubernetes/enhancements/pull/1111";
const protectedGroup = /(?:^|\.)(?:k8s|kubernetes)\.io$/;

type State = "Approved" | "Bypassed" | "Invalid" | "Missing";

interface Approval {
  readonly state: State;
  readonly message: string;
}

/** The condition KubernetesAPIApprovalPolicyConformant; undefined for groups that need no approval. */
export function apiApproval({ metadata, spec }: CustomResourceDefinition): ConditionFacts | undefined {
  if (!protectedGroup.test(spec.group)) return undefined;
  const { state, message } = approvalOf(metadata.annotations);
  switch (state) {
    case "Approved":
      return { status: "True", reason: "ApprovedAnnotation", message };
    case "Bypassed":
      return { status: "False", reason: "UnapprovedAnnotation", message };
    case "Invalid":
      return { status: "False", reason: "InvalidAnnotation", message };
    case "Missing":
      return { status: "False", reason: "MissingAnnotation", message };
  }
}

/** A state that the old definition had is not reported: its updater need not know of it. */
export function validateApiApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): readonly FieldError[] {
  if (!protectedGroup.test(definition.spec.group)) return [];
  const { annotations } = definition.metadata;
  const { state, message } = approvalOf(annotations);
  if (old !== undefined && approvalOf(old.metadata.annotations).state === state) return [];
  const path = at("metadata", "annotations").key(annotation);
  if (state === "Missing") return [required(path, message)];
  return state === "Invalid" ? [invalid(path, annotations?.[annotation] ?? "", message)] : [];
}

function approvalOf(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const text = annotations?.[annotation] ?? "";
  const wanted = `protected groups must have approval annotation ${goQuote(annotation)}`;
  if (text === "") return { state: "Missing", message: `${wanted}, ${where}` };
  if (text.startsWith("unapproved")) return { state: "Bypassed", message: `not approved: ${goQuote(text)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(text) && URL.canParse(text))
    return { state: "Approved", message: `approved in ${text}` };
  return { state: "Invalid", message: `${wanted} with either a URL or a reason starting with "unapproved", ${where}` };
}

/** Empty for a structural schema. */
export function nonStructuralViolations(
  schema: JSONSchemaProps,
  path = at("spec", "validation", "openAPIV3Schema"),
): readonly FieldError[] {
  try {
    return structuralFaults(structuralOf(schema), path);
  } catch (error) {
    if (error instanceof NotStructuralError) return [invalid(path, "", error.message)];
    throw error;
  }
}

/** The condition NonStructuralSchema; undefined for structural schemas. */
export function nonStructuralSchema({ spec }: CustomResourceDefinition): ConditionFacts | undefined {
  const errors: FieldError[] = [];
  if (spec.preserveUnknownFields === true)
    errors.push(invalid(at("spec", "preserveUnknownFields"), true, "must be false"));
  for (const [i, { name, schema }] of spec.versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) continue;
    try {
      const path = at("spec", "versions").index(i).child("schema", "openAPIV3Schema");
      errors.push(...structuralFaults(structuralOf(schema.openAPIV3Schema), path));
    } catch (error) {
      if (!(error instanceof NotStructuralError)) throw error;
      const message = `failed to check validation schema for version ${name}: ${error.message}`;
      return { status: "Unknown", reason: "StructuralError", message };
    }
  }
  if (errors.length === 0) return undefined;
  return { status: "True", reason: "Violations", message: aggregate(errors.map(fieldErrorText)) };
}
