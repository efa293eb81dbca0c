/** Runs the rules of a kind in the server's order, without a server: for tests. */

import { keyOf } from "../../definition/define-kind.ts";
import { defaultFeatures, disabledFields } from "../../features/index.ts";
import { at, type FieldError, invalidStatus } from "../../machinery/errors/field-error.ts";
import { toStatus } from "../../machinery/errors/status.ts";
import { equalJson } from "../../machinery/json/equal.ts";
import { addInt64 } from "../../machinery/json/int64.ts";
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import type { Kind } from "../../machinery/kind.ts";
import { checkDns1123Subdomain, checkPrefix } from "../../machinery/names/names.ts";
import { validateObjectMeta } from "../../machinery/object-meta.ts";
import { decode } from "../../machinery/schema/decode.ts";
import { applySchemaDefaults } from "../../machinery/schema/defaults.ts";
import type { Draft, KubeObject } from "../../machinery/schema/object.ts";

export interface Outcome {
  /** As it would be stored; absent where it was refused. */
  readonly object?: JsonObject;
  readonly refused?: JsonObject;
}

export const testNamespace = "test-namespace";
export const testUid = "00000000-0000-4000-8000-000000000000";

export function create(kind: Kind, body: Json): Outcome {
  const draft = filledIn(kind, body);
  const { metadata } = draft;
  metadata.uid = testUid;
  if (kind.scope === "Namespaced") metadata.namespace = testNamespace;
  if (kind.generation !== undefined && kind.generation !== "client") metadata.generation = 1;
  if (kind.subresources?.status !== undefined) setStatus(draft, undefined);
  disabledFields(defaultFeatures, keyOf(kind))?.(draft);
  kind.create?.prepare?.(draft);
  const root = at();
  return finish(kind, draft, [
    ...validateObjectMeta(
      metadata,
      { namespaced: kind.scope === "Namespaced", validateName: nameRule(kind) },
      root.child("metadata"),
    ),
    ...(kind.validate?.(draft, root) ?? []),
    ...(kind.create?.validate?.(draft, root) ?? []),
  ]);
}

/** `next` is the whole object, after a patch or as it was put. */
export function update(kind: Kind, stored: JsonObject, next: Json): Outcome {
  const old = stored as unknown as KubeObject;
  const draft = filledIn(kind, next);
  const { uid, namespace, generation } = old.metadata;
  Object.assign(draft.metadata, { uid, namespace, ...(generation === undefined ? {} : { generation }) });
  if (kind.subresources?.status !== undefined) setStatus(draft, stored.status);
  disabledFields(defaultFeatures, keyOf(kind))?.(draft, old);
  kind.update?.prepare?.(draft, old);
  if (changed(kind, draft, old)) draft.metadata.generation = addInt64(generation ?? 0, 1);
  const root = at();
  return finish(kind, draft, [
    ...(kind.validate?.(draft, root) ?? []),
    ...(kind.update?.validate?.(draft, old, root) ?? []),
  ]);
}

/** A fresh draft with all defaults. */
export function filledIn(kind: Kind, body: Json): Draft<KubeObject> {
  const { value } = decode(kind.schema, body);
  applySchemaDefaults(kind.schema, value as { [key: string]: Json });
  const draft = value as unknown as Draft<KubeObject>;
  kind.defaults?.(draft);
  return draft;
}

function finish(kind: Kind, draft: Draft<KubeObject>, errors: readonly FieldError[]): Outcome {
  if (errors.length > 0) return { refused: toStatus(invalidStatus(kind, draft.metadata.name ?? "", errors)) };
  return { object: written(kind, draft) as unknown as JsonObject };
}

/** As Go writes it: defaults that are zero values are left out again. */
function written(kind: Kind, object: KubeObject): KubeObject {
  return decode(kind.schema, JSON.parse(JSON.stringify(object)) as Json).value as unknown as KubeObject;
}

function nameRule(kind: Kind): (name: string, isPrefix: boolean) => readonly string[] {
  const own = kind.validateName?.bind(kind);
  return own ?? ((name, isPrefix) => (isPrefix ? checkPrefix(checkDns1123Subdomain) : checkDns1123Subdomain)(name));
}

function setStatus(draft: Draft<KubeObject>, status: Json | undefined): void {
  const open = draft as unknown as { status?: Json };
  if (status === undefined) delete open.status;
  else open.status = structuredClone(status);
}

function changed(kind: Kind, next: KubeObject, old: KubeObject): boolean {
  const { generation } = kind;
  if (generation === undefined || generation === "client") return false;
  if (generation !== "spec") return generation.changed(next, old);
  return !equalJson(content(written(kind, next)), content(old));
}

function content(object: KubeObject): Json {
  const { metadata: _, status: __, ...rest } = object as KubeObject & { status?: unknown };
  return rest as unknown as Json;
}

/** The parts of an answer that a kind's rules decide. */
export function decided(object: Json | undefined): Json {
  if (!isObject(object ?? null)) return null;
  const { metadata, status: _, managedFields: __, ...rest } = object as JsonObject;
  const {
    labels = null,
    annotations = null,
    generation = null,
  } = isObject(metadata ?? null) ? (metadata as JsonObject) : {};
  return { ...rest, metadata: { labels, annotations, generation } };
}
