/** Moments of the past, and what was there, as the user may read it. */
import { ask, Refused } from "../api/request.ts";
import { listPath, objectPath, type Resource } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import type { ObjectPlace } from "../route.ts";

export interface Moment {
  readonly revision: number;
  /** When it was written, if that is known. */
  readonly time?: string;
}

/** Of an age, a time, a revision or `now`. */
export function momentOf(text: string): Promise<Moment> {
  return ask<Moment>(`/k8ts/history?at=${encodeURIComponent(text.trim())}`);
}

/** Undefined: it did not exist. */
export function objectAt(place: ObjectPlace, revision: number): Promise<KubeObject | undefined> {
  return unlessMissing(ask<KubeObject>(`/k8ts/at/${revision}${objectPath(place)}`), undefined);
}

/** None: nor did a custom resource that was defined later. */
export async function listAt(
  resource: Resource,
  namespace: string,
  revision: number,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const path = `/k8ts/at/${revision}${listPath(resource, namespace)}`;
  const { items } = await unlessMissing(ask<{ items?: readonly KubeObject[] }>(path, { signal }), {});
  return items ?? [];
}

async function unlessMissing<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refused && error.code === 404) return otherwise;
    throw error;
  }
}
