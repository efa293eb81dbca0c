/**
 * The last step of a write: the draft in the form in which it is stored, unless nothing is to be stored.
 *
 * 1. A change that changes nothing, or only the times of managedFields, is not stored: the resourceVersion stays. The
 *    exception is an object that is stored in an outdated form.
 * 2. A change that removes the last finalizer of an object that waits for its deletion deletes it.
 */
import { alreadyExists, applyStoredForm, equalBut, type KubeObject, type ManagedFields, StatusError } from "#api";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { AnyDraft } from "../draft.ts";
import { demandLife, type RestRequest } from "../rest-request.ts";
import { eraseIfFinished } from "./delete.ts";
import { persist, unstored } from "./persist.ts";
import type { Change, Write } from "./write.ts";

/** If the name is taken, the outcome has the existing object: `create` then fails or tries another name. */
export async function storeNew(write: Write): Promise<void> {
  const { request, dryRun, draft } = write;
  const { context, resource, namespace, witness } = request;
  toStoredForm(request, draft);
  const name = draft.metadata.name ?? "";
  const suffix = resource.suffix(namespace, name);
  if (dryRun) {
    if (resource.cache.get(suffix) !== undefined) throw alreadyExists(resource.groupResource, name);
    write.outcome = { ok: true, stored: unstored(resource, suffix, draft) };
    return;
  }
  refuseRevision(draft);
  demandLife(request);
  write.outcome = await persist(context, resource, suffix, draft, undefined, witness);
  write.persisted = write.outcome.ok;
}

/** The revision of another object, as `kubectl get -o yaml` prints it. One that is no number is dropped. */
function refuseRevision({ metadata }: AnyDraft): void {
  if (Number(metadata.resourceVersion ?? "") > 0)
    throw new StatusError("", "resourceVersion should not be set on objects to be created", { code: 500 });
}

export async function storeChange(write: Change): Promise<void> {
  const { request, dryRun, draft, current, old } = write;
  const { context, resource, namespace, name, witness } = request;
  toStoredForm(request, draft);
  const suffix = resource.suffix(namespace, name);
  if (isUnchanged(draft, old) && !isStale(request, current)) {
    write.outcome = { ok: true, stored: current };
    return;
  }
  if (dryRun) {
    write.outcome = { ok: true, stored: unstored(resource, suffix, draft).asOf(current.revision) };
    return;
  }
  demandLife(request);
  const finished = await eraseIfFinished(request, suffix, draft, current);
  if (finished !== undefined) {
    write.outcome = { ok: true, stored: finished };
    return;
  }
  write.outcome = await persist(context, resource, suffix, draft, current.revision, witness);
  write.persisted = write.outcome.ok;
}

/** What the store does not tell apart becomes one form. */
function toStoredForm({ resource }: RestRequest, draft: AnyDraft): void {
  applyStoredForm(resource.kind.schema, draft as unknown as Parameters<typeof applyStoredForm>[1]);
}

/** Stored in a form, or encrypted with a key, that is not written any more. */
export function isStale({ context, resource }: RestRequest, current: StoredObject): boolean {
  return resource.forms?.isStale(current) === true || context.isOutdated?.(current.key) === true;
}

/**
 * The field manager sets a time before admission and preparation, which may undo the change behind it. The rest is
 * compared first: most writes change some of it, and managedFields are long.
 */
export function isUnchanged(draft: AnyDraft, old: KubeObject): boolean {
  return (
    equalBut(draft, old, "metadata") &&
    equalBut(draft.metadata, old.metadata, "managedFields") &&
    differAtMostInTimes(draft.metadata.managedFields ?? [], old.metadata.managedFields ?? [])
  );
}

function differAtMostInTimes(after: ManagedFields, before: ManagedFields): boolean {
  return after.length === before.length && after.every((entry, i) => equalBut(entry, before[i] ?? {}, "time"));
}
