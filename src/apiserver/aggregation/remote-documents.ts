/**
 * Keeps the discovery and OpenAPI of extension servers up to date.
 *
 *     APIServices --► queue ──► discovery of its server ──► merged discovery
 *     every minute ···►──┘ └──► OpenAPI of its server   ──► merged OpenAPI
 *
 * 1. A version is published as long as it has an APIService. While its server does not answer, or sends invalid
 *    documents, it is marked as stale.
 * 2. Its last valid OpenAPI document stays in use.
 */
import type { JsonObject } from "#api";
import type { Clock, Logger, Random } from "#base";
import { defaultPriority, type Priority, type ServedVersion } from "../discovery/index.ts";
import { follow } from "../loopback/follow.ts";
import type { Resource } from "../rest/resource.ts";
import { type ApiService, asApiService, groupVersionOf, isAvailable, serviceOf } from "./api-service.ts";
import type { Backends } from "./backends.ts";
import type { LayeredDocuments } from "./layered-documents.ts";
import { Reconciler, Unfinished } from "./reconciler.ts";
import { type Ask, remoteResources } from "./remote-discovery.ts";
import { type KnownOpenApi, remoteOpenApi } from "./remote-openapi.ts";

const BACKOFF = { initialMs: 500, maxMs: 60_000 };
const WORKERS = 5;
const REFRESH_MS = 60_000;

export interface RemoteDocumentsOptions {
  readonly apiServices: Resource;
  readonly documents: LayeredDocuments;
  readonly backends: Backends;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class RemoteDocuments {
  readonly #options: RemoteDocumentsOptions;
  readonly #work: Reconciler;
  /** The published versions. */
  readonly #openApi = new Map<string, KnownOpenApi | undefined>();
  /** The last logged error of each: the same error is logged once. */
  readonly #faults = new Map<string, string>();

  constructor(options: RemoteDocumentsOptions) {
    this.#options = options;
    this.#work = new Reconciler({ ...options, task: "documents", backoff: BACKOFF, concurrency: WORKERS });
  }

  /** Publishes all as stale until their servers have answered. To be called before the first request. */
  sync(): void {
    const { apiServices } = this.#options;
    for (const stored of apiServices.readable()) {
      const service = asApiService(apiServices.read(stored));
      if (serviceOf(service) !== undefined) this.#show(service.metadata.name ?? "", service, undefined);
    }
  }

  /** Until its signal aborts. `revision`: that of the caches. */
  async run(revision: number, signal: AbortSignal): Promise<void> {
    const add = (name: string) => this.#work.add(name);
    const end = follow(this.#options.apiServices, revision, {
      clear: () => {
        for (const name of this.#openApi.keys()) add(name);
      },
      set: add,
      delete: add,
    });
    try {
      await this.#work.run(signal, (name, ending) => this.#refresh(name, ending));
    } finally {
      end();
    }
  }

  async #refresh(name: string, signal: AbortSignal): Promise<void> {
    const { apiServices, backends, clock } = this.#options;
    const stored = apiServices.cache.get(name);
    const service = stored && asApiService(apiServices.read(stored));
    if (service === undefined || serviceOf(service) === undefined) return this.#forget(name, service);
    // When it becomes available, its status changes, and that triggers another refresh.
    if (!isAvailable(service)) return this.#show(name, service, undefined);
    const ask: Ask = { backends, clock, signal };
    const resources = await this.#fetched(name, "discovery", signal, () => remoteResources(name, service, ask));
    this.#show(name, service, resources);
    if (resources === undefined) throw new Unfinished(this.#faults.get(name));
    const known = this.#openApi.get(name);
    const openApi = await this.#fetched(name, "OpenAPI", signal, () => remoteOpenApi(name, service, known, ask));
    if (openApi === undefined) throw new Unfinished(this.#faults.get(name));
    this.#openApi.set(name, openApi);
    this.#show(name, service, resources);
    this.#faults.delete(name);
    this.#work.addAfter(name, REFRESH_MS);
  }

  /** `resources`: undefined while they are not known. */
  #show(name: string, service: ApiService, resources: readonly JsonObject[] | undefined): void {
    const { group, version } = groupVersionOf(name);
    const served: ServedVersion = {
      group,
      version,
      kinds: [],
      priority: priorityOf(service),
      remote: { resources: resources ?? [], fresh: resources !== undefined },
    };
    if (!this.#openApi.has(name)) this.#openApi.set(name, undefined);
    this.#options.documents.setRemote(served, this.#openApi.get(name)?.documents);
  }

  /** What remains published is what this server serves. */
  #forget(name: string, local: ApiService | undefined): void {
    const { group, version } = groupVersionOf(name);
    const { documents } = this.#options;
    documents.removeRemote(group, version);
    documents.rank(group, version, local === undefined ? defaultPriority(group, version) : priorityOf(local));
    this.#openApi.delete(name);
    this.#faults.delete(name);
  }

  /** Undefined, with a log line, if the request fails or the document is invalid. */
  async #fetched<T>(
    name: string,
    document: string,
    signal: AbortSignal,
    ask: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      const message = `${document}: ${error instanceof Error ? error.message : String(error)}`;
      const { log } = this.#options;
      if (this.#faults.get(name) !== message)
        log.warn("the documents of an extension server cannot be read", { name, error });
      this.#faults.set(name, message);
      return undefined;
    }
  }
}

function priorityOf({ spec }: ApiService): Priority {
  return { group: spec?.groupPriorityMinimum ?? 0, version: spec?.versionPriority ?? 0 };
}
