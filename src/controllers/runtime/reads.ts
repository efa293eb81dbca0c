/**
 * The objects that a reconcile read, by name and revision, for the flow record.
 *
 * 1. Recording is a push to a short list; texts are built only for reconciles that decide something.
 * 2. Several reconciles may run at once: reads after an await still belong to their reconcile, until it has decided.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeObject } from "#api";
import { type ReadonlyCache, type ResourceOf, revisionOf } from "#client";

/** Limits: reads of one reconcile, and objects that are named of one lookup. */
const MAX_READS = 24;
const MAX_NAMED = 4;
const MAX_WORDS = 12;

export interface Read {
  readonly kind: string;
  /** Undefined if the object does not exist. */
  readonly key?: string;
  readonly found: readonly KubeObject[];
}

export class Reads {
  readonly #noting = new AsyncLocalStorage<Noting>();

  /** The cache, with its reads recorded. */
  of<T extends KubeObject>({ kind }: ResourceOf<T>, cache: ReadonlyCache<T>): ReadonlyCache<T> {
    const note = (found: readonly T[], key?: string) => {
      const noting = this.#noting.getStore();
      if (noting?.isOver === false && noting.read.length < MAX_READS)
        noting.read.push(key === undefined ? { kind, found } : { kind, key, found });
      return found;
    };
    return {
      get size() {
        return cache.size;
      },
      get revision() {
        return cache.revision;
      },
      get(key) {
        const object = cache.get(key);
        note(object === undefined ? [] : [object], key);
        return object;
      },
      list: () => note(cache.list()) as readonly T[],
      inNamespace: (namespace) => note(cache.inNamespace(namespace)) as readonly T[],
      index(name, valuesOf) {
        const find = cache.index(name, valuesOf);
        return (value) => note(find(value)) as readonly T[];
      },
      reached: (revision, signal) => cache.reached(revision, signal),
    };
  }

  /** Runs the work, and returns what it read. */
  async during<R>(work: () => R | Promise<R>): Promise<{ readonly result: R; readonly read: readonly Read[] }> {
    const noting: Noting = { read: [], isOver: false };
    try {
      return { result: await this.#noting.run(noting, work), read: noting.read };
    } finally {
      noting.isOver = true;
    }
  }
}

interface Noting {
  readonly read: Read[];
  /** Reads of work that continues afterwards are not recorded. */
  isOver: boolean;
}

/** `Deployment/web@41`, `12 Pods@…1041`, `no Pod/web-0`, without duplicates. `about`: its namespace is left out. */
export function readWords(read: readonly Read[], about: string): string[] {
  const own = about.slice(0, about.indexOf("/") + 1);
  const words = new Set<string>();
  for (const { kind, key, found } of read) {
    if (found.length > MAX_NAMED) words.add(`${found.length} ${kind}s@…${newest(found)}`);
    else for (const object of found) words.add(`${kind}/${nameOf(object, own)}@${revisionOf(object)}`);
    if (found.length === 0 && key !== undefined)
      words.add(`no ${kind}/${key.startsWith(own) ? key.slice(own.length) : key}`);
  }
  return words.size > MAX_WORDS ? [...[...words].slice(0, MAX_WORDS), `${words.size - MAX_WORDS} more`] : [...words];
}

function nameOf({ metadata: { name = "", namespace = "" } }: KubeObject, own: string): string {
  return namespace === "" || `${namespace}/` === own ? name : `${namespace}/${name}`;
}

function newest(objects: readonly KubeObject[]): number {
  return objects.reduce((latest, object) => Math.max(latest, revisionOf(object)), 0);
}
