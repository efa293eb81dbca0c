/** The defaults of a kind, filled into a decoded draft. */
import { applySchemaDefaults, type Kind } from "#api";
import type { AnyDraft } from "../draft.ts";

type Fields = Parameters<typeof applySchemaDefaults>[1];

export function fillIn(kind: Kind, draft: AnyDraft): void {
  applySchemaDefaults(kind.schema, draft as unknown as Fields);
  kind.defaults?.(draft);
}

/**
 * As `fillIn`, for a draft that shares all but status and metadata with the stored object: that has its defaults and is
 * frozen.
 */
export function fillInStatus(kind: Kind, draft: AnyDraft): void {
  const { metadata, status } = draft;
  const alone = { metadata, ...(status !== undefined && { status }) } as AnyDraft;
  applySchemaDefaults(kind.schema, alone as unknown as Fields);
  if (alone.status !== undefined) draft.status = alone.status;
  const rules = kind.subresources?.status;
  if (typeof rules === "object") rules.fill?.(draft);
}
