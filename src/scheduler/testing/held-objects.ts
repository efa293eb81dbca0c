/** Informers without an API server: tests set their objects. */
import type { KubeObject } from "#api";
import {
  type Change,
  type Handler,
  type Index,
  type Informers,
  objectKey,
  type ReadonlyCache,
  type ResourceOf,
} from "#client";

interface Held {
  readonly objects: Map<string, KubeObject>;
  readonly handlers: Set<Handler<KubeObject>>;
}

export class HeldObjects {
  readonly #kinds = new Map<string, Held>();
  #revision = 0;

  set<T extends KubeObject>(kind: ResourceOf<T>, object: T): void {
    const { objects, handlers } = this.#of(kind as ResourceOf<KubeObject>);
    const key = objectKey(object);
    const old = objects.get(key);
    this.#revision += 1;
    objects.set(key, object);
    const change: Change<KubeObject> = old === undefined ? { type: "added", object } : { type: "updated", object, old };
    for (const handler of handlers) handler(change);
  }

  delete<T extends KubeObject>(kind: ResourceOf<T>, key: string): void {
    const { objects, handlers } = this.#of(kind as ResourceOf<KubeObject>);
    const old = objects.get(key);
    if (old === undefined) return;
    objects.delete(key);
    for (const handler of handlers) handler({ type: "deleted", object: old, old });
  }

  /** The informers for plugins; nothing is listed or watched. */
  informers(): Informers {
    const of = (kind: ResourceOf<KubeObject>) => {
      const held = this.#of(kind);
      return {
        cache: this.#cacheOf(held),
        synced: Promise.resolve(),
        hasSynced: true,
        onChange: (handler: Handler<KubeObject>) => {
          held.handlers.add(handler);
          for (const object of held.objects.values()) handler({ type: "added", object });
          return () => void held.handlers.delete(handler);
        },
      };
    };
    return { of, synced: async () => {}, has: () => true } as unknown as Informers;
  }

  #cacheOf({ objects }: Held): ReadonlyCache<KubeObject> {
    const list = () => [...objects.values()];
    const index =
      (_name: string, valuesOf: (object: KubeObject) => readonly string[]): Index<KubeObject> =>
      (value) =>
        list().filter((object) => valuesOf(object).includes(value));
    return {
      get size() {
        return objects.size;
      },
      revision: this.#revision,
      get: (key) => objects.get(key),
      list,
      index,
      inNamespace: index("namespace", ({ metadata }) => [metadata.namespace ?? ""]),
      reached: async () => {},
    };
  }

  #of(kind: ResourceOf<KubeObject>): Held {
    const name = `${"group" in kind ? kind.group : kind.apiVersion} ${kind.kind}`;
    let held = this.#kinds.get(name);
    if (held === undefined) {
      held = { objects: new Map(), handlers: new Set() };
      this.#kinds.set(name, held);
    }
    return held;
  }
}
