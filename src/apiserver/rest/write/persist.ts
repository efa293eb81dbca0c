/**
 * Writes an object to the store, or deletes it there, and waits until the caches show that: a read after the answer
 * sees the write.
 */
import type { KubeObject } from "#api";
import type { Revision, WriteOutcome } from "#store";
import { encodeForStore, StoredObject } from "../../cache/stored-object.ts";
import { ownForm } from "../forms.ts";
import { shown } from "../read/fresh.ts";
import type { Resource } from "../resource.ts";
import type { RequestWitness, StorageContext } from "../server-context.ts";
import { asStatus, storeCall } from "../store-call.ts";

export type Persisted =
  /** In the kind's own form. */
  | { readonly ok: true; readonly stored: StoredObject }
  /** Another writer was first: the object that is stored now. */
  | { readonly ok: false; readonly current: StoredObject | undefined };

export async function persist(
  context: StorageContext,
  resource: Resource,
  suffix: string,
  object: KubeObject,
  expected: Revision | undefined,
  witness?: RequestWitness,
): Promise<Persisted> {
  const { forms } = resource;
  const key = resource.cache.prefix + suffix;
  const form = forms === undefined ? resource.toStored(object) : await forms.toStored(object);
  const value = encodeForStore(form);
  let outcome: WriteOutcome;
  try {
    const { store } = context;
    outcome = await (expected === undefined ? store.create(key, value) : store.update(key, value, expected));
  } catch (error) {
    throw asStatus(error);
  }
  if (!outcome.ok) return refused(resource, outcome);
  const stored = StoredObject.written({ key, value, revision: outcome.revision }, form);
  resource.cache.wrote(stored);
  witness?.wrote(object.metadata, outcome.revision, expected === undefined ? "ADDED" : "MODIFIED");
  forms?.wrote(stored);
  const showing = shown(context, outcome.revision);
  if (showing !== undefined) await showing;
  return { ok: true, stored: forms === undefined ? stored : await ownForm(forms, stored) };
}

/** Deletes at the revision of `current`. */
export async function erase(
  context: StorageContext,
  resource: Resource,
  suffix: string,
  current: StoredObject,
  witness?: RequestWitness,
): Promise<Persisted> {
  const outcome = await storeCall(() => context.store.delete(resource.cache.prefix + suffix, current.revision));
  if (!outcome.ok) return refused(resource, outcome);
  witness?.wrote(current.object.metadata, outcome.revision, "DELETED");
  await shown(context, outcome.revision);
  return { ok: true, stored: current.asOf(outcome.revision) };
}

async function refused({ forms }: Resource, { current }: Extract<WriteOutcome, { ok: false }>): Promise<Persisted> {
  if (current === undefined) return { ok: false, current: undefined };
  const stored = new StoredObject(current);
  return { ok: false, current: forms === undefined ? stored : await ownForm(forms, stored) };
}

/** The object as a dry run shows it: it has no revision. */
export function unstored(resource: Resource, suffix: string, object: KubeObject): StoredObject {
  const form = resource.toStored(object);
  return new StoredObject({ key: resource.cache.prefix + suffix, value: encodeForStore(form), revision: 0 }, form);
}
