/**
 * Merge patches of nothing but metadata (labels, annotations, finalizers, owners) without decoding the rest again.
 *
 * 1. The rest of the draft is a copy of what is stored: it was decoded and defaulted when it was written. All later
 *    steps run as for any other patch, and may change it.
 * 2. It applies to kinds with a Go type: custom resources are pruned by a schema that may be younger than the object.
 * 3. A patch that sends managedFields is applied to the whole object.
 *
 * With `shareEqualParts` and the memory of valid specs: see docs/performance.md, "merge patch of a Pod".
 * `patch-metadata.test.ts` compares both ways for every kind.
 */
import { cloneJson, isObject, type Json, type Kind, type KubeObject } from "#api";
import type { AnyDraft } from "../draft.ts";
import type { Proposal } from "./write.ts";

const OWN_PARTS: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);

export function isAboutMetadata({ schema }: Kind, patch: Json): boolean {
  if (schema.goType === undefined || !isObject(patch)) return false;
  const { metadata } = patch;
  return (
    isObject(metadata) && !("managedFields" in metadata) && Object.keys(patch).every((name) => OWN_PARTS.has(name))
  );
}

export function aroundMetadata(current: KubeObject, propose: (object: Json) => Proposal): Proposal {
  const { managedFields, ...metadata } = current.metadata;
  const { kind, apiVersion } = current;
  const { draft } = propose({ kind, apiVersion, metadata } as unknown as Json);
  if (managedFields !== undefined)
    draft.metadata.managedFields = managedFields as AnyDraft["metadata"]["managedFields"] & object;
  const whole: Record<string, Json | undefined> = {};
  // In the order of the stored fields.
  for (const [name, value] of Object.entries(current))
    whole[name] = OWN_PARTS.has(name) ? draft[name] : cloneJson(value);
  return { draft: whole as AnyDraft };
}
