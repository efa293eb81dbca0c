/**
 * The objects of a request in other versions than that of the request.
 *
 *     own form ──► stored form ──► the other version          built-in kinds
 *     own form ──► the definition's conversion ──► …          custom resources
 */
import { apiVersionOf, internalError, isStatusError, type JsonObject, type KubeObject } from "#api";
import type { Target } from "./target.ts";

/** Throws what the conversion throws. */
export function converted(object: KubeObject, from: Target, to: Target): KubeObject | Promise<KubeObject> {
  // An object of another kind than the resource's, such as a Scale, is the same in all versions.
  if (from.resource === to.resource || from.own === undefined || to.own === undefined) return object;
  const { forms } = from.resource;
  if (forms !== undefined) return byDefinition(object, from, to);
  const stored = from.resource.toStored(object);
  return to.own.storedAs === undefined ? stored : to.own.storedAs.fromStored(stored);
}

async function byDefinition(object: KubeObject, from: Target, to: Target): Promise<KubeObject> {
  const apiVersion = apiVersionOf(to.kind);
  const versioned = await from.resource.forms?.converting((convert) =>
    convert(object as unknown as JsonObject, apiVersion),
  );
  if (versioned === undefined) throw internalError(`unable to convert to ${apiVersion}: unknown kind`);
  return versioned.object as unknown as KubeObject;
}

/** Throws InternalError if the conversion fails. */
export async function convertible<T>(convert: () => T | Promise<T>): Promise<T> {
  try {
    return await convert();
  } catch (error) {
    if (isStatusError(error, "InternalError")) throw error;
    throw internalError(error instanceof Error ? error.message : String(error), error);
  }
}

/** Both states of an object in one version. */
export interface Versioned {
  readonly target: Target;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
}

/** Each version is made once, on first use. */
export class Versions {
  readonly #own: Versioned;
  readonly #made = new Map<Target["resource"], Versioned | Promise<Versioned>>();

  constructor(target: Target, object: KubeObject | undefined, old: KubeObject | undefined) {
    this.#own = { target, object, old };
    this.#made.set(target.resource, this.#own);
  }

  in(target: Target): Versioned | Promise<Versioned> {
    let made = this.#made.get(target.resource);
    if (made === undefined) {
      made = this.#make(target);
      this.#made.set(target.resource, made);
    }
    return made;
  }

  async #make(target: Target): Promise<Versioned> {
    const { target: from, object, old } = this.#own;
    return {
      target,
      object: object && (await converted(object, from, target)),
      old: old && (await converted(old, from, target)),
    };
  }
}
