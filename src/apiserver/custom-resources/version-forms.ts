/**
 * The objects of a custom kind in one of its versions. See ../rest/forms.ts for the contract.
 *
 *     stored ──► its version ──► converter ──► this version ──► pruned and defaulted by the current schema
 *
 * 1. Objects are parsed when they are first read, and converted once: the result lives as long as the object at that
 *    revision.
 * 2. An object whose stored form needs no change is its own form: its bytes are sent as they are.
 * 3. A conversion that failed is tried again at the next read of the object.
 */
import {
  type Convert,
  type CustomKind,
  DecodeError,
  decode,
  equalJson,
  type Json,
  type JsonObject,
  type Kind,
  type KubeObject,
  StatusError,
  type Versioned,
  writeJson,
} from "#api";
import type { StoredObject } from "../cache/stored-object.ts";
import type { Forms } from "../rest/forms.ts";
import type { Converter } from "./converter.ts";

export interface VersionFormsOptions {
  /** The kind in this version. */
  readonly kind: CustomKind;
  readonly apiVersion: string;
  /** The storage version. */
  readonly stored: { readonly apiVersion: string; kind(): CustomKind };
  readonly converter: Converter;
  /** The kind in any version; undefined if there is no such version. */
  kindIn(apiVersion: string): Kind | undefined;
}

export class VersionForms implements Forms {
  readonly #options: VersionFormsOptions;
  readonly #made = new WeakMap<StoredObject, StoredObject>();
  /** From a form back to the stored object, where they differ. */
  readonly #storedOf = new WeakMap<StoredObject, StoredObject>();
  readonly #loading = new Map<StoredObject, Promise<void>>();

  constructor(options: VersionFormsOptions) {
    this.#options = options;
  }

  known(stored: StoredObject): StoredObject | undefined {
    const made = this.#made.get(stored);
    if (made !== undefined) return made;
    const { converter, apiVersion } = this.#options;
    const object = asJson(stored.object);
    const converted = converter.now(object, apiVersion);
    return converted === undefined ? undefined : this.#make(stored, converted);
  }

  async load(objects: readonly StoredObject[]): Promise<void> {
    const started = objects.filter((stored) => !this.#loading.has(stored) && this.known(stored) === undefined);
    if (started.length > 0) this.#start(started);
    await Promise.all(objects.map((stored) => this.#loading.get(stored)));
  }

  async toStored(object: KubeObject): Promise<KubeObject> {
    const { stored } = this.#options;
    const converted = await this.#convert(asJson(object), stored.apiVersion);
    if (converted === (object as unknown)) return object;
    return decode(stored.kind().schema, converted).value as unknown as KubeObject;
  }

  wrote(stored: StoredObject): void {
    const { apiVersion, kind } = this.#options;
    if (apiVersion !== this.#options.stored.apiVersion) return;
    // Only reading adds an empty status.
    if (kind.givesStatus && !("status" in stored.object)) return;
    this.#made.set(stored, stored);
  }

  isStale(own: StoredObject): boolean {
    const { stored } = this.#options;
    const kept = this.#storedOf.get(own) ?? own;
    if (kept.object.apiVersion !== stored.apiVersion) return true;
    return shaped(stored.kind(), asJson(kept.object)) !== asJson(kept.object);
  }

  async converting<T>(run: (convert: Convert) => T): Promise<T> {
    // `run` is synchronous: a conversion that has to be awaited ends it, and it runs again with the result.
    const known = new Map<string, JsonObject>();
    const convert: Convert = (object, apiVersion) => this.#versioned(object, apiVersion, known);
    for (;;) {
      try {
        return run(convert);
      } catch (error) {
        if (!(error instanceof Awaited)) throw error;
        known.set(error.key, await this.#convert(error.object, error.apiVersion));
      }
    }
  }

  #versioned(object: JsonObject, apiVersion: string, known: ReadonlyMap<string, JsonObject>): Versioned | undefined {
    const kind = this.#options.kindIn(apiVersion);
    if (kind === undefined) return undefined;
    const now = this.#options.converter.now(object, apiVersion);
    if (now !== undefined) return { object: now, schema: kind.schema };
    const awaited = new Awaited(object, apiVersion);
    const converted = known.get(awaited.key);
    if (converted === undefined) throw awaited;
    return { object: converted, schema: kind.schema };
  }

  async #convert(object: JsonObject, apiVersion: string): Promise<JsonObject> {
    const { converter } = this.#options;
    const now = converter.now(object, apiVersion);
    if (now !== undefined) return now;
    const [conversion] = await converter.convert([object], apiVersion);
    if (conversion?.ok !== true) throw failure(conversion?.message ?? "");
    return conversion.object;
  }

  #start(objects: readonly StoredObject[]): void {
    const { converter, apiVersion } = this.#options;
    const conversions = converter.convert(
      objects.map(({ object }) => asJson(object)),
      apiVersion,
    );
    objects.forEach((stored, i) => {
      const loading = conversions
        .then((all) => {
          const conversion = all[i];
          if (conversion?.ok !== true) throw failure(conversion?.message ?? "");
          this.#make(stored, conversion.object);
        })
        .finally(() => this.#loading.delete(stored));
      loading.catch(() => {}); // `load` reports it
      this.#loading.set(stored, loading);
    });
  }

  #make(stored: StoredObject, converted: JsonObject): StoredObject {
    const object = shaped(this.#options.kind, converted);
    const own = object === asJson(stored.object) ? stored : stored.inForm(object as unknown as KubeObject);
    this.#made.set(stored, own);
    if (own !== stored) this.#storedOf.set(own, stored);
    return own;
  }
}

/** Control flow of `converting`: an object that has to be converted before the run can continue. */
class Awaited extends Error {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly key: string;

  constructor(object: JsonObject, apiVersion: string) {
    super("a conversion has to be awaited");
    this.object = object;
    this.apiVersion = apiVersion;
    this.key = `${apiVersion} ${writeJson(object)}`;
  }
}

/**
 * Prunes and defaults by the current schema, which may differ from that of the last write. Returns the same object if
 * nothing changes.
 */
function shaped(kind: CustomKind, object: JsonObject): JsonObject {
  try {
    const value = asJson(kind.read(object as unknown as KubeObject));
    return equalJson(value, object) ? object : value;
  } catch (error) {
    // A stored object is shown even if the current schema would refuse it.
    if (error instanceof DecodeError) return object;
    throw error;
  }
}

function failure(message: string): StatusError {
  return new StatusError("", message, { code: 500 });
}

function asJson(object: KubeObject): JsonObject {
  return object as unknown as Json as JsonObject;
}
