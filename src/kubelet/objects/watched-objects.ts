/**
 * The ConfigMaps and Secrets that Pods of this node refer to, each watched by its name: a node is authorized for no
 * others.
 *
 * 1. One watch for each object, however many Pods refer to it; it ends with the last of them.
 * 2. An immutable object is read once and not watched.
 * 3. `onChange` is called for every Pod that refers to a changed object.
 */
import type { core, KubeObject } from "#api";
import {
  abortable,
  type ChildController,
  type Clock,
  childController,
  type Logger,
  type Random,
  type TaskGroup,
} from "#base";
import { type Client, Informer, type ResourceOf } from "#client";

export interface WatchedObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly tasks: TaskGroup;
  readonly onChange: (podUid: string) => void;
}

type MaybeImmutable = KubeObject & { readonly immutable?: boolean };

interface Watched<T extends MaybeImmutable> {
  readonly pods: Set<string>;
  readonly informer: Informer<T>;
  readonly stop: ChildController;
}

/** How long the start of a container waits for an object before it fails and is retried. */
const READ_TIMEOUT_MS = 20_000;

export class WatchedObjects<T extends MaybeImmutable> {
  readonly #options: WatchedObjectsOptions;
  readonly #resource: ResourceOf<T>;
  readonly #watched = new Map<string, Watched<T>>();

  constructor(resource: ResourceOf<T>, options: WatchedObjectsOptions) {
    this.#resource = resource;
    this.#options = options;
  }

  /** Replaces the names that the Pod refers to. */
  refer({ metadata: { uid = "", namespace = "" } }: core.Pod, names: ReadonlySet<string>): void {
    const keys = new Set([...names].map((name) => `${namespace}/${name}`));
    for (const [key, { pods }] of this.#watched) if (pods.has(uid) && !keys.has(key)) this.#leave(key, uid);
    for (const name of names) this.#enter(`${namespace}/${name}`, namespace, name, uid);
  }

  release(uid: string): void {
    for (const [key, { pods }] of this.#watched) if (pods.has(uid)) this.#leave(key, uid);
  }

  /** Undefined if there is no such object. */
  async get(namespace: string, name: string): Promise<T | undefined> {
    const key = `${namespace}/${name}`;
    const watched = this.#watched.get(key);
    if (watched === undefined) return undefined;
    const { clock, tasks } = this.#options;
    if (!watched.informer.hasSynced) {
      const timeout = childController(tasks.signal);
      const timer = clock.timer(READ_TIMEOUT_MS, () =>
        timeout.abort(new Error(`${this.#plural} "${name}" could not be read in time`)),
      );
      try {
        await abortable(watched.informer.synced, timeout.signal);
      } finally {
        timer.cancel();
        timeout[Symbol.dispose]();
      }
    }
    return watched.informer.cache.get(key);
  }

  get #plural(): string {
    return "plural" in this.#resource ? this.#resource.plural : this.#resource.names.plural;
  }

  #enter(key: string, namespace: string, name: string, uid: string): void {
    const existing = this.#watched.get(key);
    if (existing !== undefined) {
      existing.pods.add(uid);
      return;
    }
    const { client, clock, random, log, tasks, onChange } = this.#options;
    if (tasks.signal.aborted) return;
    const selectors = { fieldSelector: `metadata.name=${name}` };
    const informer = new Informer<T>({
      client: client.of(this.#resource).in(namespace),
      clock,
      random,
      log,
      selectors,
    });
    const stop = childController(tasks.signal);
    const watched: Watched<T> = { pods: new Set([uid]), informer, stop };
    this.#watched.set(key, watched);
    informer.onChange(({ object }) => {
      if (object.immutable === true) stop.abort();
      for (const pod of watched.pods) onChange(pod);
    });
    tasks.run(`watch of ${this.#plural} ${key}`, () => informer.run(stop.signal));
  }

  #leave(key: string, uid: string): void {
    const watched = this.#watched.get(key);
    if (watched === undefined || !watched.pods.delete(uid) || watched.pods.size > 0) return;
    watched.stop.abort();
    this.#watched.delete(key);
  }
}
