/**
 * Takes over the object that a webhook or policy has changed.
 *
 * 1. It is decoded and defaulted like the body of a request.
 * 2. managedFields that it has broken are replaced by those before, with a warning.
 */
import {
  applySchemaDefaults,
  DecodeError,
  decode,
  internalError,
  type Json,
  type KubeObject,
  type ManagedFields,
  parseOwners,
  unknownField,
} from "#api";
import type { AnyDraft } from "../../rest/draft.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { fillIn } from "../../rest/write/defaults.ts";
import { kindText, type Target } from "./target.ts";

const INVALID_MANAGED_FIELDS =
  ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ";

/** Throws InternalError for a document that is not an object of the kind; with `strict`, also for unknown fields. */
export function decoded(target: Target, document: Json, strict = false): KubeObject {
  const { own, schema, kind } = target;
  try {
    const { value, unknown } = decode(schema, document);
    if (strict && unknown.length > 0)
      throw new DecodeError(`strict decoding error: ${unknown.map(unknownField).join(", ")}`);
    const draft = value as unknown as AnyDraft;
    checkKind(draft, target);
    draft.kind = kind.kind;
    draft.apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
    if (own === undefined) applySchemaDefaults(schema, value as Parameters<typeof applySchemaDefaults>[1]);
    else {
      draft.metadata ??= {};
      fillIn(own, draft);
    }
    return draft;
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message, error);
    throw error;
  }
}

function checkKind({ kind = "", apiVersion = "" }: KubeObject, { kind: wanted }: Target): void {
  const own = wanted.group === "" ? wanted.version : `${wanted.group}/${wanted.version}`;
  if ((kind === "" || kind === wanted.kind) && (apiVersion === "" || apiVersion === own)) return;
  throw internalError(`${apiVersion}, Kind=${kind} cannot be handled as ${kindText(wanted)}`);
}

/** Gives the request's object the new state, in place: others hold references to it. */
export function rewrite({ object, warn }: AdmissionAttributes, next: KubeObject): void {
  if (object === undefined || object === next) return;
  const before = object.metadata?.managedFields;
  const target = object as unknown as Record<string, unknown>;
  for (const field of Object.keys(target)) delete target[field];
  Object.assign(target, next);
  const { metadata } = object;
  if (metadata?.managedFields === before || metadata === undefined) return;
  const fault = managedFieldsFault(metadata.managedFields);
  if (fault === undefined) return;
  const settled = metadata as { managedFields?: ManagedFields };
  if (before === undefined) delete settled.managedFields;
  else settled.managedFields = before;
  warn(INVALID_MANAGED_FIELDS + fault);
}

function managedFieldsFault(entries: ManagedFields | undefined): string | undefined {
  try {
    parseOwners(entries ?? []);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
