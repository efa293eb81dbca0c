/**
 * How many watches a write concerns: each gets an event, which is work that the write causes.
 *
 * 1. Selectors are ignored, because every event is matched with them. Exception: pods of a node are indexed, and such
 *    watches not counted.
 */
import type { RequestInfo } from "../http/request-info.ts";

interface Watched {
  all: number;
  /** By namespace, and by namespace and name: "ns/", "ns/name", "/name". */
  readonly some: Map<string, number>;
}

export class WatchCounts {
  readonly #resources = new Map<string, Watched>();

  /** Returns a function that removes the watch, once. */
  add(info: RequestInfo, query: URLSearchParams): () => void {
    if (info.resource === "pods" && (query.get("fieldSelector") ?? "").includes("spec.nodeName=")) return () => {};
    const key = resourceKey(info);
    const place = placeOf(info);
    this.#count(key, place, 1);
    let counted = true;
    return () => {
      if (counted) this.#count(key, place, -1);
      counted = false;
    };
  }

  /** The watches that a write to this object, or into this namespace, concerns. */
  concerned(info: RequestInfo): number {
    const watched = this.#resources.get(resourceKey(info));
    if (watched === undefined) return 0;
    const { all, some } = watched;
    if (some.size === 0) return all;
    const { namespace, name } = info;
    const inNamespace = namespace === "" ? 0 : (some.get(`${namespace}/`) ?? 0);
    return all + inNamespace + (name === "" ? 0 : (some.get(`${namespace}/${name}`) ?? 0));
  }

  #count(key: string, place: string, by: number): void {
    const watched = this.#resources.get(key) ?? { all: 0, some: new Map() };
    this.#resources.set(key, watched);
    if (place === "") {
      watched.all += by;
    } else {
      const count = (watched.some.get(place) ?? 0) + by;
      if (count === 0) watched.some.delete(place);
      else watched.some.set(place, count);
    }
    if (watched.all === 0 && watched.some.size === 0) this.#resources.delete(key);
  }
}

function resourceKey({ apiGroup, resource }: RequestInfo): string {
  return apiGroup === "" ? resource : `${apiGroup}/${resource}`;
}

function placeOf({ namespace, name }: RequestInfo): string {
  return namespace === "" && name === "" ? "" : `${namespace}/${name}`;
}
