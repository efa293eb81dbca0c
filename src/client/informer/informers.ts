/** The informers of a process: one for each resource, started on first use. */
import type { KubeObject } from "#api";
import { abortable, type Clock, type Logger, type Random, type TaskGroup } from "#base";
import type { Client } from "../requests/client.ts";
import { type ResourceName, type ResourceOf, resourceName } from "../requests/resource.ts";
import type { ResourceClient } from "../requests/resource-client.ts";
import { Informer } from "./informer.ts";

export interface InformersOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Informers run in this group and end with it. */
  readonly tasks: TaskGroup;
  /** Informers that keep only the metadata of objects, as the garbage collector needs. */
  readonly metadataOnly?: boolean;
  /** By resource, see InformerOptions. */
  readonly gatherMs?: (resource: ResourceName) => number | undefined;
}

export class Informers {
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, { readonly informer: Informer<KubeObject>; readonly stop: AbortController }>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  of<T extends KubeObject>(resource: ResourceOf<T>): Informer<T> {
    const { client, clock, random, log, tasks, metadataOnly = false } = this.#options;
    const named = resourceName(resource);
    const key = `${named.apiVersion}/${named.plural}`;
    const existing = this.#informers.get(key);
    if (existing !== undefined) return existing.informer as unknown as Informer<T>;
    const objects = metadataOnly ? client.metadataOf(resource as ResourceOf<KubeObject>) : client.of(resource);
    const gatherMs = this.#options.gatherMs?.(named);
    const informer = new Informer<T>({
      ...{ client: objects as ResourceClient<T>, clock, random, log },
      gatherMs,
    });
    const stop = new AbortController();
    this.#informers.set(key, { informer: informer as unknown as Informer<KubeObject>, stop });
    tasks.run(`informer of ${key}`, (signal) => informer.run(AbortSignal.any([signal, stop.signal])));
    return informer;
  }

  has(resource: ResourceOf<KubeObject>): boolean {
    const { apiVersion, plural } = resourceName(resource);
    return this.#informers.has(`${apiVersion}/${plural}`);
  }

  /** Stops the informer of a resource that is no longer served. */
  end(resource: ResourceOf<KubeObject>): void {
    const { apiVersion, plural } = resourceName(resource);
    const key = `${apiVersion}/${plural}`;
    this.#informers.get(key)?.stop.abort();
    this.#informers.delete(key);
  }

  /** Resolves when all informers have synced; rejects if they end before. */
  async synced(): Promise<void> {
    const all = [...this.#informers.values()].map(({ informer }) => informer.synced);
    await abortable(Promise.all(all), this.#options.tasks.signal);
  }
}
