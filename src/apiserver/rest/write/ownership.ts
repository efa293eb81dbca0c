/** managedFields of a write. */
import {
  apiVersionOf,
  excludeFields,
  type FieldFilter,
  FieldSetBuilder,
  fieldPath,
  formatTime,
  instantOf,
  isStatusError,
  type JsonObject,
  type Kind,
  type KubeObject,
  managerName,
  updateManagedFields,
  type WriteContext,
} from "#api";
import type { Maybe } from "#base";
import type { AnyDraft } from "../draft.ts";
import type { RestRequest } from "../rest-request.ts";

/** What the field manager needs to know of a write. */
export function ownershipContext({ context, resource, query, userAgent, subresource }: RestRequest): WriteContext {
  const { kind } = resource;
  const resetFields = resetFieldsOf(kind, subresource);
  return {
    apiVersion: apiVersionOf(kind),
    schema: kind.schema,
    manager: managerName(query.get("fieldManager") ?? "", userAgent),
    subresource,
    now: formatTime(instantOf(context.clock.now())),
    resetFields,
  };
}

/** Records in the draft's managedFields who owns what after this write. */
export function own(request: RestRequest, draft: AnyDraft, live: KubeObject | undefined): Maybe<void> {
  const update = {
    ...ownershipContext(request),
    live: live as JsonObject | undefined,
    updated: draft as unknown as JsonObject,
  };
  const { forms } = request.resource;
  if (forms !== undefined)
    return forms
      .converting((convert) => updateManagedFields({ ...update, convert }))
      .catch((error: unknown) => {
        // A version in which another manager wrote cannot be converted to now. The write goes on, and ownership stays
        // as it was.
        if (!isStatusError(error)) throw error;
        return live?.metadata.managedFields ?? [];
      })
      .then((fields) => record(draft, fields as ReturnType<typeof updateManagedFields>));
  record(draft, updateManagedFields(update));
}

function record(draft: AnyDraft, fields: ReturnType<typeof updateManagedFields>): void {
  if (fields.length === 0) delete draft.metadata.managedFields;
  else draft.metadata.managedFields = fields as AnyDraft["metadata"]["managedFields"] & object;
}

const filters = new WeakMap<Kind, Map<string, FieldFilter | undefined>>();

/** A write through one endpoint changes no ownership of what only another can change. Computed once for each kind. */
function resetFieldsOf(kind: Kind, subresource: string): FieldFilter | undefined {
  let known = filters.get(kind);
  if (known === undefined) {
    known = new Map();
    filters.set(kind, known);
  }
  if (!known.has(subresource)) known.set(subresource, resetFilter(kind, subresource));
  return known.get(subresource);
}

function resetFilter(kind: Kind, subresource: string): FieldFilter | undefined {
  const status = kind.subresources?.status;
  if (status === undefined) return undefined;
  const builder = new FieldSetBuilder();
  if (subresource === "status") {
    builder.insert(fieldPath("spec"));
    const keeps = typeof status === "object" ? (status.keeps ?? "labelsAndAnnotations") : "labelsAndAnnotations";
    if (keeps === "annotations") builder.insert(fieldPath("metadata.labels"));
    if (keeps === "nothing") builder.insert(fieldPath("metadata"));
  } else {
    builder.insert(fieldPath("status"));
    for (const path of kind.resetFields ?? []) builder.insert(fieldPath(path));
  }
  return excludeFields(builder.build());
}
