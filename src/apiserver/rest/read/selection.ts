/** Label and field selectors of a list or watch, compiled into one function. */
import {
  badRequest,
  type FieldMatcher,
  FieldSelectorError,
  type FieldTerm,
  type Kind,
  type KubeObject,
  type LabelMatcher,
  LabelSelectorError,
  parseFieldSelector,
  parseLabelSelector,
} from "#api";
import type { FieldValue } from "../../cache/field-index.ts";
import type { Selection } from "../../cache/selection.ts";
import type { RestRequest } from "../rest-request.ts";

/** Indexed, because thousands of watchers select by them: each kubelet watches the Pods of its node. */
const INDEXED = new Set(["spec.nodeName"]);

export function selectionOf({ resource, namespace, name, query }: RestRequest): Selection {
  const { kind } = resource;
  const labels = parsed(() => parseLabelSelector(query.get("labelSelector") ?? ""));
  const fields = parsed(() => parseFieldSelector(query.get("fieldSelector") ?? ""));
  for (const term of fields.terms) checkField(kind, term.field);
  const exact = fields.terms.find((term) => term.field === "metadata.name" && term.operator === "=")?.value;
  const only = name === "" ? exact : name;
  const test = testOf(kind, labels, fields);
  const indexed = fields.terms.find(({ field, operator }) => operator === "=" && INDEXED.has(field));
  return {
    namespace: namespace === "" ? undefined : namespace,
    name: namespace !== "" || kind.scope === "Cluster" ? only : undefined,
    exactly: namespace === "" && indexed !== undefined ? exactly(kind, indexed) : undefined,
    matches: test,
  };
}

function exactly(kind: Kind, { field, value }: FieldTerm): FieldValue {
  return { field, value, valueOf: (object) => fieldValue(kind, object, field) };
}

function testOf(kind: Kind, labels: LabelMatcher, fields: FieldMatcher): ((object: KubeObject) => boolean) | undefined {
  const byLabel = labels.requirements.length > 0;
  const byField = fields.terms.length > 0;
  if (!byLabel && !byField) return undefined;
  return (object) =>
    (!byLabel || labels.matches(object.metadata.labels ?? {})) &&
    (!byField || fields.matches((field) => fieldValue(kind, object, kind.fieldAliases?.[field] ?? field)));
}

function fieldValue(kind: Kind, object: KubeObject, field: string): string {
  if (field === "metadata.name") return object.metadata.name ?? "";
  if (field === "metadata.namespace") return object.metadata.namespace ?? "";
  return kind.selectableFields?.valueOf(object, field) ?? "";
}

function checkField(kind: Kind, field: string): void {
  const own = kind.selectableFields;
  if (
    field === "metadata.name" ||
    (field === "metadata.namespace" && (own === undefined || kind.scope === "Namespaced"))
  )
    return;
  if (own === undefined) {
    throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
  }
  if (own.names.includes(field) || kind.fieldAliases?.[field] !== undefined) return;
  throw badRequest(`field label not supported: ${field}`);
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof LabelSelectorError || error instanceof FieldSelectorError) throw badRequest(error.message);
    throw error;
  }
}
