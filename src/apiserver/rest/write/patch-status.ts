/**
 * Strategic merge patches of the status of a Pod, the most frequent write of a cluster, without the work on the rest of
 * the Pod.
 *
 * 1. Only status and metadata are merged, decoded and defaulted. The rest is the stored object itself, frozen.
 * 2. It applies to kinds that can default a status alone (`fill`). A patch that names anything else is applied to the
 *    whole object, so that its faults are found.
 *
 * `bench/writes.ts`, status patch of a Pod: 9 % less processor time than through the whole object (4 to 12 % in six
 * rounds, 2026-11-18). `patch-status.test.ts` compares both.
 */
import { isObject, type Json, type Kind, type KubeObject } from "#api";
import type { AnyDraft } from "../draft.ts";
import type { Proposal } from "./write.ts";

const OWN_PARTS: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata", "status"]);

export function isAboutStatus({ subresources }: Kind, patch: Json): boolean {
  const rules = subresources?.status;
  if (typeof rules !== "object" || rules.fill === undefined || !isObject(patch)) return false;
  const { metadata = {} } = patch;
  return (
    Object.keys(patch).every((name) => OWN_PARTS.has(name)) && isObject(metadata) && !("managedFields" in metadata)
  );
}

export function aroundStatus(current: KubeObject, propose: (object: Json) => Proposal): Proposal {
  const { managedFields, ...metadata } = current.metadata;
  const { kind, apiVersion, status } = current as unknown as Record<string, Json | undefined>;
  const asked = { kind, apiVersion, metadata, ...(status !== undefined && { status }) } as unknown as Json;
  const { draft } = propose(asked);
  if (managedFields !== undefined)
    draft.metadata.managedFields = managedFields as AnyDraft["metadata"]["managedFields"] & object;
  const whole: Record<string, Json | undefined> = {};
  // In the order of the stored fields.
  for (const [name, value] of Object.entries(current)) whole[name] = OWN_PARTS.has(name) ? draft[name] : value;
  if (!("status" in whole) && draft.status !== undefined) whole.status = draft.status;
  return { draft: whole as AnyDraft, sharesRest: true };
}
