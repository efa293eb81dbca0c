/**
 * Conversion between the stored version of a custom resource and the version that a resource serves. It may have to
 * wait for a webhook; built-in kinds use `storedAs`, which never waits.
 *
 * 1. A converted object is a StoredObject of the same key and revision: verbs, encoders and watches use it like the
 *    stored one.
 * 2. Each object is converted once for each revision; requests that need it at the same time share the conversion.
 */
import type { Convert, KubeObject } from "#api";
import type { StoredObject } from "../cache/stored-object.ts";

export interface Forms {
  /** The object in the kind's own form. Undefined: it has to be loaded first. */
  known(stored: StoredObject): StoredObject | undefined;
  /** Converts objects, so that `known` returns them. Rejects with the error for the client. */
  load(objects: readonly StoredObject[]): Promise<void>;
  /** The object in the form in which it is stored. */
  toStored(object: KubeObject): Promise<KubeObject>;
  /** This process has written the object, in the current stored form. */
  wrote(stored: StoredObject): void;
  /** Whether the stored form of an object differs from the one in which it would be written now. */
  isStale(own: StoredObject): boolean;
  /** Runs a function that needs the object in versions in which other managers wrote it. */
  converting<T>(run: (convert: Convert) => T): Promise<T>;
}

export async function ownForm(forms: Forms, stored: StoredObject): Promise<StoredObject> {
  const known = forms.known(stored);
  if (known !== undefined) return known;
  await forms.load([stored]);
  return loaded(forms, stored);
}

/** The objects of a page in the kind's own form: the page itself where no object differs. */
export async function ownForms(forms: Forms, page: readonly StoredObject[]): Promise<readonly StoredObject[]> {
  let own = shown.get(forms)?.get(page);
  if (own === undefined) {
    await forms.load(page.filter((stored) => forms.known(stored) === undefined));
    const all = page.map((stored) => loaded(forms, stored));
    own = all.every((form, i) => form === page[i]) ? page : all;
    const pages = shown.get(forms) ?? new WeakMap();
    shown.set(forms, pages.set(page, own));
  }
  return own;
}

/** The cache keeps the last page for clients that list at the same time: its conversion is kept with it. */
const shown = new WeakMap<Forms, WeakMap<readonly StoredObject[], readonly StoredObject[]>>();

/** After `load`. */
export function loaded(forms: Forms, stored: StoredObject): StoredObject {
  const known = forms.known(stored);
  if (known === undefined) throw new Error(`${stored.key} was loaded and is not known`);
  return known;
}
