/**
 * The verbs on the objects of one resource, in one namespace or in all.
 *
 * 1. Results are what the server stored: with resourceVersion, uid and defaults. They may be shared: to change one,
 *    copy it.
 * 2. Items of a list have kind and apiVersion, as single objects do.
 */
import type { Json, JsonObject, KubeObject } from "#api";
import type { Call, Calls } from "./calls.ts";
import {
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  queryOf,
  type Selectors,
  type WatchOptions,
  type WriteOptions,
  writeQuery,
} from "./options.ts";
import { type Patch, patchBody } from "./patch.ts";
import { type ResourceName, resourcePath } from "./resource.ts";
import { type WatchEvent, watchEvents } from "./watch.ts";

export interface List<T> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** An apply configuration: only the fields that the manager wants to own. */
export type Applied<T> = KubeObject & Fragment<T>;

type Fragment<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]?: Fragment<T[Key]> }
    : T;

const PAGE_OBJECTS = 500;

/** The Accept headers: for whole objects, or for their metadata alone. */
export interface Form {
  readonly object: string;
  readonly list: string;
}

export const WHOLE: Form = { object: "application/json", list: "application/json" };
export const METADATA_ALONE: Form = {
  object: partial("PartialObjectMetadata"),
  list: partial("PartialObjectMetadataList"),
};

function partial(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

export class ResourceClient<T extends KubeObject> {
  readonly resource: ResourceName;
  /** Undefined: all namespaces, or none. */
  readonly namespace: string | undefined;
  readonly #calls: Calls;
  readonly #form: Form;

  constructor(calls: Calls, resource: ResourceName, namespace?: string, form = WHOLE) {
    this.#calls = calls;
    this.resource = resource;
    this.namespace = namespace;
    this.#form = form;
  }

  /** The same resource in one namespace. */
  in(namespace: string): ResourceClient<T> {
    return new ResourceClient(this.#calls, this.resource, namespace, this.#form);
  }

  get(name: string, { resourceVersion, ...call }: GetOptions = {}): Promise<T> {
    return this.#object("GET", this.#path(name) + queryOf({ resourceVersion }), call);
  }

  /** One page, or everything if there is no limit. */
  async list(options: ListOptions = {}): Promise<List<T>> {
    const { limit, continue: token, resourceVersion, resourceVersionMatch, signal, timeoutMs } = options;
    const query = queryOf({ ...selectors(options), limit, continue: token, resourceVersion, resourceVersionMatch });
    const target = resourcePath(this.resource, this.namespace) + query;
    const call = { method: "GET", target, accept: this.#form.list, signal, timeoutMs };
    return this.#typed((await this.#calls.json(call)) as unknown as List<T>);
  }

  /** Every object, page by page, all at one revision. */
  async *each(options: Omit<ListOptions, "continue"> = {}): AsyncGenerator<T, void, undefined> {
    let page = await this.list({ limit: PAGE_OBJECTS, ...options });
    for (;;) {
      yield* page.items;
      const { continue: token = "" } = page.metadata;
      if (token === "") return;
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
      page = await this.list({ limit: PAGE_OBJECTS, ...rest, continue: token });
    }
  }

  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { labelSelector, fieldSelector, allowWatchBookmarks = true, signal, timeoutMs, ...others } = options;
    const { cause: _, omitManagedFields, gatherMs, ...rest } = others;
    const query = queryOf({
      watch: true,
      allowWatchBookmarks,
      labelSelector,
      fieldSelector,
      "k8ts-gather": gatherMs,
      ...rest,
    });
    const target = resourcePath(this.resource, this.namespace) + query;
    const call = { method: "GET", target, accept: this.#form.object, signal, timeoutMs };
    return watchEvents(() => this.#calls.stream(call), { signal, omitManagedFields });
  }

  create(object: T, options: WriteOptions = {}): Promise<T> {
    const target = resourcePath(this.resource, this.#namespaceOf(object)) + writeQuery(options);
    return this.#object("POST", target, options, this.#withType(object));
  }

  update(object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(object, options);
  }

  updateStatus(object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(object, options, "status");
  }

  patch(name: string, patch: Patch, options: WriteOptions = {}): Promise<T> {
    const { contentType, value } = patchBody(patch);
    return this.#object("PATCH", this.#path(name) + writeQuery(options), options, value, contentType);
  }

  /** Server-side apply: the fields in `object` are the manager's, the others stay as they are. */
  apply(object: Applied<T>, options: ApplyOptions): Promise<T> {
    const { apiVersion, kind } = this.resource;
    const { contentType, value } = patchBody({
      type: "apply",
      object: { apiVersion, kind, ...object } as unknown as JsonObject,
    });
    const target = this.#pathOf(object) + writeQuery(options, options.force);
    return this.#object("PATCH", target, options, value, contentType);
  }

  /**
   * The last state of the object, or its state with a deletionTimestamp; undefined if the server answers with a Status.
   */
  async delete(name: string, options: DeleteOptions = {}): Promise<T | undefined> {
    const answer = await this.#calls.json(deleteCall(this.#path(name), options));
    return this.#isStatus(answer) ? undefined : (answer as unknown as T);
  }

  /** The objects that were deleted or marked for deletion. */
  async deleteCollection(options: DeleteOptions & Selectors = {}): Promise<List<T>> {
    const target = resourcePath(this.resource, this.namespace) + queryOf(selectors(options));
    return this.#typed((await this.#calls.json(deleteCall(target, options))) as unknown as List<T>);
  }

  /** A subresource: status, scale, eviction, binding, token … `S` is its type. */
  subresource<S extends KubeObject = T>(name: string, subresource: string): SubresourceClient<S> {
    const path = this.#path(name, subresource);
    return {
      get: (options = {}) => this.#object<S>("GET", path, options),
      create: (object, options = {}) => this.#object<S>("POST", path + writeQuery(options), options, object),
      update: (object, options = {}) => this.#object<S>("PUT", path + writeQuery(options), options, object),
      patch: (patch, options = {}) => {
        const { contentType, value } = patchBody(patch);
        return this.#object<S>("PATCH", path + writeQuery(options), options, value, contentType);
      },
    };
  }

  #put(object: T, options: WriteOptions, ...subresource: string[]): Promise<T> {
    const target = this.#pathOf(object, ...subresource) + writeQuery(options);
    return this.#object("PUT", target, options, this.#withType(object));
  }

  /** The server knows the type of an object without one only if its kind is built in. */
  #withType(object: T): T {
    const { apiVersion, kind } = this.resource;
    return object.kind === undefined ? { ...object, apiVersion, kind } : object;
  }

  #object<S = T>(
    method: string,
    target: string,
    options: CallOptions,
    value?: object,
    contentType = "application/json",
  ): Promise<S> {
    const { signal, timeoutMs, cause } = options;
    const accept = this.#form.object;
    const type = value === undefined ? undefined : contentType;
    const call: Call = { method, target, accept, signal, timeoutMs, cause, value, contentType: type };
    return this.#calls.json(call) as Promise<S>;
  }

  #pathOf(object: KubeObject, ...behind: string[]): string {
    const { name } = object.metadata;
    if (name === undefined || name === "") throw new TypeError(`a ${this.resource.kind} without metadata.name`);
    return resourcePath(this.resource, this.#namespaceOf(object), name, ...behind);
  }

  #path(...behind: string[]): string {
    return resourcePath(this.resource, this.#namespaceOf(undefined), ...behind);
  }

  #namespaceOf(object: KubeObject | undefined): string | undefined {
    const namespace = this.namespace ?? object?.metadata.namespace;
    if (this.resource.namespaced && namespace === undefined) {
      throw new TypeError(`a ${this.resource.kind} is namespaced: name the namespace with in("…")`);
    }
    return namespace;
  }

  #typed(list: List<T>): List<T> {
    const { apiVersion, kind } = this.resource;
    return { metadata: list.metadata, items: (list.items ?? []).map((item) => ({ apiVersion, kind, ...item })) };
  }

  #isStatus(answer: Json): boolean {
    return this.resource.kind !== "Status" && (answer as JsonObject).kind === "Status";
  }
}

export interface SubresourceClient<S> {
  get(options?: CallOptions): Promise<S>;
  create(object: S, options?: WriteOptions): Promise<S>;
  update(object: S, options?: WriteOptions): Promise<S>;
  patch(patch: Patch, options?: WriteOptions): Promise<S>;
}

function selectors({ labelSelector, fieldSelector }: Selectors) {
  return { labelSelector, fieldSelector };
}

function deleteCall(target: string, options: DeleteOptions): Call {
  const { signal, timeoutMs, cause, dryRun, gracePeriodSeconds, propagationPolicy, preconditions } = options;
  const asked = { gracePeriodSeconds, propagationPolicy, preconditions, ...(dryRun === true && { dryRun: ["All"] }) };
  const value = { kind: "DeleteOptions", apiVersion: "v1", ...asked };
  return { method: "DELETE", target, signal, timeoutMs, cause, value, contentType: "application/json" };
}
