/**
 * Makes what is missing, and puts right what is there, through the verbs that clients use.
 *
 * 1. What is there as it should be costs a look into the cache.
 * 2. Several servers may start at the same time: who comes second finds the object made.
 */
import { apiVersionOf, applyConfiguration, decode, isStatusError, type JsonObject, type KubeObject } from "#api";
import type { AnyDraft } from "../rest/draft.ts";
import { fresh } from "../rest/read/fresh.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { change } from "../rest/write/change.ts";
import { createDraft } from "../rest/write/create.ts";
import { deleteWith } from "../rest/write/delete.ts";
import { ownershipContext } from "../rest/write/ownership.ts";
import { serverRequest } from "./server-request.ts";

const MAX_TRIES = 50;
const RETRY_MS = 100;

export interface Wanted {
  readonly group: string;
  readonly plural: string;
  readonly object: KubeObject;
  /** Owns the fields; default: kube-apiserver. */
  readonly manager?: string;
  /** What the object should become; undefined if it may stay as it is. Absent: it may. */
  revise?(found: KubeObject): KubeObject | undefined;
  /** Whether it has to be deleted and made anew: what cannot be changed is wrong. */
  replace?(found: KubeObject): boolean;
}

/** Throws the error, or reports it. */
export type EnsureFailure = (wanted: Wanted, error: unknown) => void;

export class Ensure {
  readonly #context: ServerContext;
  readonly #resources: Resources;
  readonly #onFailure: EnsureFailure;

  /** `onFailure`: decides about an object that cannot be ensured. Default: the error is thrown. */
  constructor(context: ServerContext, resources: Resources, onFailure: EnsureFailure = rethrow) {
    this.#context = context;
    this.#resources = resources;
    this.#onFailure = onFailure;
  }

  /** Each for itself, all at the same time. Kinds that are not served are left out. */
  async all(wanted: Iterable<Wanted>): Promise<void> {
    await Promise.all([...wanted].map((one) => this.one(one)));
  }

  /**
   * What needs a share of a common stock, such as an address, has to wait where another server has taken that and is
   * not through.
   */
  async one(wanted: Wanted): Promise<void> {
    const { clock, sharedStore } = this.#context;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#tryOne(wanted);
      } catch (error) {
        if (!sharedStore || tries === MAX_TRIES || !isStatusError(error, "Invalid"))
          return this.#onFailure(wanted, error);
        await clock.sleep(RETRY_MS);
        await fresh(this.#context);
      }
    }
  }

  async #tryOne(wanted: Wanted): Promise<void> {
    const resource = this.#resources.find(wanted.group, "v1", wanted.plural);
    if (resource === undefined) return;
    const { name = "", namespace = "" } = wanted.object.metadata;
    const stored = resource.cache.get(resource.suffix(namespace, name));
    if (stored === undefined) return this.#create(resource, wanted);
    // Reported by the cache. Nobody else may repair it: it stays, and everything that does not need it works.
    if (!resource.canRead(stored)) return;
    const found = resource.read(stored);
    if (wanted.replace?.(found) === true) {
      await this.#delete(resource, found);
      return this.#create(resource, wanted);
    }
    if (wanted.revise?.(found) !== undefined) await this.#revise(resource, wanted);
  }

  /** Undefined also for an object that cannot be read. */
  find(group: string, plural: string, namespace: string, name: string): KubeObject | undefined {
    const resource = this.#resources.find(group, "v1", plural);
    const stored = resource?.cache.get(resource.suffix(namespace, name));
    return stored && resource?.canRead(stored) ? resource.read(stored) : undefined;
  }

  /** Server-side apply of a status. */
  async status(group: string, plural: string, name: string, status: object, manager: string): Promise<void> {
    const resource = this.#resources.find(group, "v1", plural);
    if (resource === undefined) return;
    const { kind } = resource;
    const applied = {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      metadata: { name },
      status,
    } as unknown as JsonObject;
    const request = serverRequest(this.#context, resource, { name, subresource: "status", query: managed(manager) });
    await change(request, {
      dryRun: false,
      propose: (current) => {
        const live = current as JsonObject | undefined;
        const result = applyConfiguration({
          ...ownershipContext(request),
          kind: kind.kind,
          live,
          applied,
          force: true,
        });
        const draft = decode(kind.schema, result.object, { from: "maps" }).value as unknown as AnyDraft;
        Object.assign(draft, { kind: kind.kind, apiVersion: apiVersionOf(kind) });
        Object.assign(draft.metadata, { managedFields: result.managedFields });
        return { draft, owned: true, unchanged: !result.changed };
      },
    });
  }

  async #create(resource: Resource, { object, manager }: Wanted): Promise<void> {
    const { kind } = resource;
    const draft = {
      kind: kind.kind,
      apiVersion: apiVersionOf(kind),
      ...structuredClone(object),
    } as unknown as AnyDraft;
    const request = serverRequest(this.#context, resource, {
      namespace: object.metadata.namespace ?? "",
      query: managed(manager),
    });
    try {
      await createDraft(request, draft, false);
    } catch (error) {
      if (!isStatusError(error, "AlreadyExists")) throw error;
      // What another server has made is there for the next step as well.
      await fresh(this.#context);
    }
  }

  async #revise(resource: Resource, { object, manager, revise }: Wanted): Promise<void> {
    const { name = "", namespace = "" } = object.metadata;
    const request = serverRequest(this.#context, resource, { name, namespace, query: managed(manager) });
    await change(request, {
      dryRun: false,
      propose: (current) => {
        const next = current && revise?.(current);
        return next === undefined
          ? { draft: structuredClone(current) as unknown as AnyDraft, unchanged: true }
          : { draft: structuredClone(next) as unknown as AnyDraft };
      },
    });
  }

  async #delete(resource: Resource, { metadata }: KubeObject): Promise<void> {
    const { name = "", namespace = "", uid } = metadata;
    const preconditions = uid === undefined ? {} : { uid };
    try {
      await deleteWith(serverRequest(this.#context, resource, { name, namespace }), {
        dryRun: false,
        gracePeriodSeconds: undefined,
        propagationPolicy: undefined,
        preconditions,
        ignoreStoreReadError: false,
      });
    } catch (error) {
      if (!isStatusError(error, "NotFound") && !isStatusError(error, "Conflict")) throw error;
    }
  }
}

function rethrow(_: Wanted, error: unknown): never {
  throw error;
}

function managed(manager: string | undefined): URLSearchParams {
  return new URLSearchParams(manager === undefined ? {} : { fieldManager: manager });
}
