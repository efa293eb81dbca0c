/**
 * What a reconcile looked at, for those who want to see it: objects of the caches, by name and revision.
 *
 * 1. Noting is a push to a short list; words are made only for a reconcile that decides something.
 * 2. Several reconciles may be under way: what one of them reads after it has waited for something is still its own, until it has decided.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { KubeObject } from "#api";
import { type ReadonlyCache, type ResourceOf, revisionOf } from "#client";

/** Reads of one reconcile, and objects that are named of what one of them found. */
const MAX_READS = 24;
const MAX_NAMED = 4;
const MAX_WORDS = 12;

export interface Read {
  readonly kind: string;
  /** Undefined where there is none. */
  readonly key?: string;
  readonly found: readonly KubeObject[];
}

export class Reads {
  readonly #noting = new AsyncLocalStorage<Noting>();

  /** The same cache, of which is noted what is read. */
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

  /** Does this, and says what it read. */
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
  /** What it has begun may go on after it. */
  isOver: boolean;
}

/** `Deployment/web@41`, `12 Pods@…1041`, `no Pod/web-0`; each once. `about`: whose namespace need not be said. */
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
