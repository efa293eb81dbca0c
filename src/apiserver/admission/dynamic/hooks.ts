/**
 * The webhooks or policies whose rules match a resource, subresource and operation, looked up once.
 *
 * 1. A request that nothing matches costs two map lookups.
 * 2. A resource is replaced when anything about it changes, so what is kept for it stays valid as long as it is served.
 */
import type { Resource } from "../../rest/resource.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { Operation } from "../chain/plugin.ts";
import { type Target, targetOf } from "./target.ts";

export class Hooks<H> {
  readonly #find: (target: Target, operation: Operation) => readonly H[];
  readonly #known = new WeakMap<Resource, Map<string, readonly H[]>>();

  constructor(find: (target: Target, operation: Operation) => readonly H[]) {
    this.#find = find;
  }

  about(attributes: AdmissionAttributes): readonly H[] {
    const { resource, subresource, operation } = attributes;
    let ofResource = this.#known.get(resource);
    if (ofResource === undefined) {
      ofResource = new Map();
      this.#known.set(resource, ofResource);
    }
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let found = ofResource.get(key);
    if (found === undefined) {
      found = this.#find(targetOf(attributes), operation);
      ofResource.set(key, found);
    }
    return found;
  }
}
