/**
 * What a server does to an object, as far as pure functions can: for tests that compare kinds with recordings of a real
 * server. No store, no admission, one IP family.
 */
import { initIPFamilies, needsClusterIP, needsHealthCheckNodePort } from "../core/index.ts";
import { keyOf } from "../definition/define-kind.ts";
import { defaultFeatures, disabledFields } from "../features/index.ts";
import { at, type FieldError, fieldErrorText } from "../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { OpenObject } from "../machinery/json/own-key.ts";
import { apiVersionOf, type Kind, type RequestFacts } from "../machinery/kind.ts";
import { checkDns1123Subdomain, checkPrefix } from "../machinery/names/names.ts";
import { validateObjectMeta } from "../machinery/object-meta.ts";
import { decode } from "../machinery/schema/decode.ts";
import { applySchemaDefaults } from "../machinery/schema/defaults.ts";
import type { Draft, KubeObject } from "../machinery/schema/object.ts";
import { zeroValue } from "../machinery/schema/zero.ts";
import type { Service } from "../types/core-v1.ts";

export interface Outcome {
  readonly object: KubeObject;
  readonly errors: readonly FieldError[];
}

type Open = Draft<KubeObject> & { status?: Json };

const request: RequestFacts = { features: defaultFeatures, now: 0, user: { name: "admin", groups: [], extra: {} } };

export function create(kind: Kind, body: JsonObject): Outcome {
  const draft = decoded(kind, body);
  const { metadata } = draft;
  if (!metadata.name && metadata.generateName) metadata.name = `${metadata.generateName}12345`;
  if (kind.subresources?.status !== undefined && kind.create?.keepStatus !== true) resetStatus(kind, draft, undefined);
  disabledFields(defaultFeatures, keyOf(kind))?.(draft);
  kind.create?.prepare?.(draft, request);
  const unallocated = kind.kind === "Service" ? allocate(draft as Draft<Service>, undefined) : [];
  if (unallocated.length > 0) return { object: draft, errors: unallocated };
  const errors = [
    ...metaFaults(kind, draft),
    ...(kind.validate?.(draft, at()) ?? []),
    ...(kind.create?.validate?.(draft, at()) ?? []),
  ];
  if (errors.length === 0) kind.canonicalize?.(draft);
  return { object: draft, errors };
}

export function update(kind: Kind, body: JsonObject, old: KubeObject): Outcome {
  const draft = decoded(kind, body);
  if (kind.subresources?.status !== undefined) resetStatus(kind, draft, old);
  disabledFields(defaultFeatures, keyOf(kind))?.(draft, old);
  kind.update?.prepare?.(draft, old, request);
  const unallocated = kind.kind === "Service" ? allocate(draft as Draft<Service>, old as Service) : [];
  if (unallocated.length > 0) return { object: draft, errors: unallocated };
  const errors = [...(kind.validate?.(draft, at()) ?? []), ...(kind.update?.validate?.(draft, old, at()) ?? [])];
  if (errors.length === 0) kind.canonicalize?.(draft);
  return { object: draft, errors };
}

export function updateStatus(kind: Kind, body: JsonObject, old: KubeObject): Outcome {
  const { status } = decoded(kind, body);
  const draft: Open = { ...(structuredClone(old) as Open), ...(status === undefined ? {} : { status }) };
  const rules = kind.subresources?.status === true ? undefined : kind.subresources?.status;
  disabledFields(defaultFeatures, keyOf(kind))?.(draft, old);
  rules?.prepare?.(draft, old, request);
  return {
    object: draft,
    errors: rules?.validate?.(draft, old, at()) ?? [],
  };
}

export function updatePart(kind: Kind, name: string, body: JsonObject, old: KubeObject): Outcome {
  const draft = decoded(kind, body);
  const rules = kind.subresources?.parts?.[name];
  disabledFields(defaultFeatures, keyOf(kind))?.(draft, old);
  rules?.prepare(draft, old, request);
  return {
    object: draft,
    errors: rules?.validate?.(draft, old, at()) ?? [],
  };
}

function decoded(kind: Kind, body: JsonObject): Open {
  const typed = { ...body, apiVersion: apiVersionOf(kind), kind: kind.kind };
  const draft = decode(kind.schema, typed).value as OpenObject;
  applySchemaDefaults(kind.schema, draft);
  const object = draft as unknown as Open;
  if (kind.scope === "Namespaced") object.metadata.namespace = "ns";
  kind.defaults?.(object);
  return object;
}

function resetStatus(kind: Kind, draft: Open, old: Open | KubeObject | undefined): void {
  const before = (old as Open | undefined)?.status;
  const field = kind.schema.fields.get("status");
  if (before !== undefined) draft.status = structuredClone(before);
  else if (field !== undefined && !field.pointer) draft.status = zeroValue(field.schema);
  else delete draft.status;
}

function metaFaults(kind: Kind, { metadata }: Open): readonly FieldError[] {
  const validateDnsName = (name: string, isPrefix: boolean) =>
    (isPrefix ? checkPrefix(checkDns1123Subdomain) : checkDns1123Subdomain)(name);
  const validateName = kind.validateName?.bind(kind) ?? validateDnsName;
  return validateObjectMeta(metadata, { namespaced: kind.scope === "Namespaced", validateName }, at("metadata"));
}

function allocate(draft: Draft<Service>, old: Service | undefined): readonly FieldError[] {
  const errors = initIPFamilies(draft, old, ["IPv4"]);
  if (errors.length > 0 || draft.spec === undefined) return errors;
  if (needsClusterIP(draft)) {
    draft.spec.clusterIP ||= "10.0.0.1";
    draft.spec.clusterIPs ??= [draft.spec.clusterIP];
  }
  if (needsHealthCheckNodePort(draft)) draft.spec.healthCheckNodePort ||= 30000;
  return [];
}

/** The faults of a create with this body. */
export function faults(kind: Kind, body: JsonObject): readonly string[] {
  return create(kind, {
    ...body,
    metadata: { name: "one", ...(body.metadata as JsonObject | undefined) },
  }).errors.map(fieldErrorText);
}

/** Creates one body, then updates it to the other. */
export function changeFaults(kind: Kind, before: JsonObject, after: JsonObject): readonly string[] {
  const metadata = { name: "one" };
  const old = create(kind, { metadata, ...before }).object;
  return update(kind, { metadata, ...after }, old).errors.map(fieldErrorText);
}
