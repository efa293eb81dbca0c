/** What a write through a subresource of a pod keeps from the old pod. */

import { equalJson } from "../../../machinery/json/equal.ts";
import { addInt64 } from "../../../machinery/json/int64.ts";
import type { Json } from "../../../machinery/json/json.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod } from "../../../types/core-v1.ts";

const ofMetadata = [
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "deletionTimestamp",
  "generation",
] as const;

/** Metadata and status of the old pod; the machinery keeps the rest. */
export function keepMetadata(draft: Draft<Pod>, old: Pod): void {
  const before: Readonly<Record<string, unknown>> = { ...old.metadata };
  const metadata: Record<string, unknown> = { ...draft.metadata };
  for (const field of ofMetadata) {
    if (before[field] === undefined) delete metadata[field];
    else metadata[field] = structuredClone(before[field]);
  }
  draft.metadata = metadata as Draft<Pod["metadata"]>;
  if (old.status === undefined) delete draft.status;
  else draft.status = structuredClone(old.status) as Draft<NonNullable<Pod["status"]>>;
}

/** A change of the spec raises the generation, whichever subresource it came through. */
export function raiseGeneration(draft: Draft<Pod>, old: Pod): void {
  const isSame = equalJson((draft.spec ?? null) as unknown as Json, (old.spec ?? null) as unknown as Json);
  if (!isSame) draft.metadata.generation = addInt64(old.metadata.generation ?? 0, 1);
}
