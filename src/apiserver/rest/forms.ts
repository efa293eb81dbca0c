/**
 * Between the form in which objects are kept and the kind's own, where the way from one to the other may take waiting. Built-in kinds have
 * `storedAs` for it, which never waits; the versions of a kind that is defined at run time have this.
 *
 * 1. A form is a StoredObject of the same key and revision: everything behind the verbs takes it for what is stored.
 * 2. It is made once for each object and revision, for all who ask, also for those who ask at the same time.
 */
import type { Convert, KubeObject } from "#api";
import type { StoredObject } from "../cache/stored-object.ts";

export interface Forms {
  /** In the kind's own form. Undefined: that is not known yet, and has to be waited for. */
  known(stored: StoredObject): StoredObject | undefined;
  /** Makes them known. Rejects with what the caller is to be told. */
  load(objects: readonly StoredObject[]): Promise<void>;
  /** In the form in which it is to be kept. */
  toStored(object: KubeObject): Promise<KubeObject>;
  /** This process has written it: it is as it should be. */
  wrote(stored: StoredObject): void;
  /** Whether an object, in the kind's own form, is kept in a form in which it would not be kept if it were written now. */
  isStale(own: StoredObject): boolean;
  /** Runs what compares an object with what others wrote in other versions of it. */
  converting<T>(run: (convert: Convert) => T): Promise<T>;
}

export async function ownForm(forms: Forms, stored: StoredObject): Promise<StoredObject> {
  const known = forms.known(stored);
  if (known !== undefined) return known;
  await forms.load([stored]);
  return loaded(forms, stored);
}

/** The objects of a page: the page itself where they are all as they are kept. */
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

/** Pages that are kept are read again and again: what is made of them is kept with them. */
const shown = new WeakMap<Forms, WeakMap<readonly StoredObject[], readonly StoredObject[]>>();

/** After `load`. */
export function loaded(forms: Forms, stored: StoredObject): StoredObject {
  const known = forms.known(stored);
  if (known === undefined) throw new Error(`${stored.key} was loaded and is not known`);
  return known;
}
