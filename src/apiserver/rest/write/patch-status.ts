/**
 * Patches of a status, which come more often than all others: heartbeats, conditions, phases.
 *
 * 1. Only what such a patch can change is merged and decoded: the status and the metadata. The rest of the object is as it is stored.
 * 2. A patch that speaks of anything else takes the long way: what is wrong with it has to be told.
 */
import { cloneJson, isObject, type Json, type Kind, type KubeObject } from "#api";
import type { AnyDraft } from "../draft.ts";
import type { Proposal } from "./write.ts";

const OWN_PARTS: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata", "status"]);

export function isAboutStatus(patch: Json): boolean {
  if (!isObject(patch)) return false;
  const { metadata = {} } = patch;
  return (
    Object.keys(patch).every((name) => OWN_PARTS.has(name)) && isObject(metadata) && !("managedFields" in metadata)
  );
}

/** If the kind can default a status alone (`fill`), the rest is shared with the current object; else it is a copy, to be defaulted again. */
export function aroundStatus(
  current: KubeObject,
  { subresources }: Kind,
  propose: (object: Json) => Proposal,
): Proposal {
  const rules = subresources?.status;
  const sharesRest = typeof rules === "object" && rules.fill !== undefined;
  const { managedFields, ...metadata } = current.metadata;
  const { kind, apiVersion, status } = current as unknown as Record<string, Json | undefined>;
  const asked = { kind, apiVersion, metadata, ...(status !== undefined && { status }) } as unknown as Json;
  const { draft } = propose(asked);
  if (managedFields !== undefined)
    draft.metadata.managedFields = managedFields as AnyDraft["metadata"]["managedFields"] & object;
  const whole: Record<string, Json | undefined> = {};
  // In the order of the stored fields.
  for (const [name, value] of Object.entries(current))
    whole[name] = OWN_PARTS.has(name) ? draft[name] : sharesRest ? value : cloneJson(value);
  if (!("status" in whole) && draft.status !== undefined) whole.status = draft.status;
  return { draft: whole as AnyDraft, sharesRest };
}
