/**
 * Collections that views share: one list and watch for each resource and namespace, while a view shows it.
 *
 * 1. Events change the collection at once; views are notified once per frame.
 * 2. A forbidden collection is reported as `forbidden`, not shown as empty.
 */
import { batch, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { sleep } from "../time.ts";
import { ask, Refused, wordsOf } from "./request.ts";
import { listPath, type Resource } from "./resources.ts";
import { LineReader, type StreamConnection, type StreamHandlers } from "./streams.ts";
import { type KubeObject, type Page, type WatchEvent, Watched } from "./watched.ts";

const PAGE = 250;
const RETRY_MS = [500, 1000, 2000, 5000];
const FORBIDDEN_MS = 15_000;

export type Phase = "loading" | "live" | "interrupted" | "forbidden" | "failed";

export interface CollectionState {
  readonly phase: Phase;
  readonly words: string;
}

/** Which objects, and how much of each. */
export interface Which {
  /** Only the one of this name. */
  readonly name?: string;
  /** Only those with these labels, as a selector. */
  readonly labels?: string;
  /** Their contents are not needed. */
  readonly metadataOnly?: boolean;
}

const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

export class Collection<T extends KubeObject> {
  readonly state: Signal<CollectionState> = signal({ phase: "loading", words: "" });
  /** Incremented in each frame with changes. */
  readonly version = signal(0);
  readonly #watched = new Watched<T>();
  /** Including the start of its query. */
  readonly #path: string;
  readonly #metadataOnly: boolean;
  readonly #streams: StreamConnection;
  #users = 0;
  #abort: AbortController | undefined;

  readonly #soon: (changed: Collection<T>) => void;

  constructor(path: string, metadataOnly: boolean, streams: StreamConnection, soon: (changed: Collection<T>) => void) {
    this.#path = path;
    this.#metadataOnly = metadataOnly;
    this.#streams = streams;
    this.#soon = soon;
  }

  get objects(): ReadonlyMap<string, T> {
    return this.#watched.objects;
  }

  use(): () => void {
    this.#users += 1;
    if (this.#abort === undefined || this.#abort.signal.aborted) {
      this.#abort = new AbortController();
      void this.#run(this.#abort.signal);
    }
    return () => {
      this.#users -= 1;
      // Kept for a moment: the next view, for example another tab, reuses it.
      void sleep(2000).then(() => {
        if (this.#users === 0) this.#abort?.abort();
      });
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        const { next } = this.#watched;
        if (next.do === "list") await this.#list(next.continue, signal);
        else {
          const live = () => {
            this.#become("live");
            failures = 0;
          };
          await this.#watch(next.resourceVersion, live, signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused && [410, 400].includes(error.code)) this.#watched.relist();
        else {
          await this.#failed(error, signal);
        }
        await sleep(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 5000, signal);
      }
    }
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof Refused && (error.code === 403 || error.code === 401)) {
      this.#watched.clear();
      this.#changed();
      this.#become("forbidden", wordsOf(error));
      // Permissions may change: retried from time to time while a view shows it.
      await sleep(FORBIDDEN_MS, signal);
    } else this.#become(this.objects.size > 0 ? "interrupted" : "failed", wordsOf(error));
  }

  async #list(continued: string, signal: AbortSignal): Promise<void> {
    const query = continued === "" ? "" : `&continue=${encodeURIComponent(continued)}`;
    const page = await ask<Page<T>>(`${this.#path}limit=${PAGE}${query}`, {
      signal,
      ...(this.#metadataOnly && { accept: METADATA_LIST }),
    });
    this.#watched.page(page);
    this.#changed();
  }

  #watch(resourceVersion: string, onOpen: () => void, signal: AbortSignal): Promise<void> {
    const path = `${this.#path}watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
    const lines = new LineReader();
    return new Promise((resolve, reject) => {
      const handlers: StreamHandlers = {
        onOpen,
        onText: (text) => {
          let changed = false;
          for (const line of lines.read(text)) {
            if (line === "") continue;
            if (this.#watched.event(JSON.parse(line) as WatchEvent<T>)) changed = true;
          }
          if (changed) this.#changed();
          if (this.#watched.next.do === "list") {
            close();
            resolve();
          }
        },
        onEnd: (error) => (error === undefined ? resolve() : reject(error)),
      };
      const close = this.#streams.open(path, handlers, this.#metadataOnly);
      const leave = () => {
        close();
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #become(phase: Phase, words = ""): void {
    const before = this.state.peek();
    if (before.phase !== phase || before.words !== words) this.state.value = { phase, words };
  }

  #changed(): void {
    this.#soon(this);
  }
}

/** All collections of a page. */
export class Collections {
  readonly streams: StreamConnection;
  readonly #all = new Map<string, Collection<KubeObject>>();
  readonly #changed = new Set<Collection<KubeObject>>();

  constructor(streams: StreamConnection) {
    this.streams = streams;
  }

  of<T extends KubeObject>(
    resource: Resource,
    namespace: string,
    { name = "", labels = "", metadataOnly = false }: Which = {},
  ): Collection<T> {
    const only = [
      ...(name === "" ? [] : [`fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}&`]),
      ...(labels === "" ? [] : [`labelSelector=${encodeURIComponent(labels)}&`]),
    ].join("");
    const path = `${listPath(resource, namespace)}?${only}`;
    const key = metadataOnly ? `metadata of ${path}` : path;
    const soon = (each: Collection<KubeObject>) => this.#soon(each);
    const found = this.#all.get(key) ?? new Collection<KubeObject>(path, metadataOnly, this.streams, soon);
    this.#all.set(key, found);
    return found as unknown as Collection<T>;
  }

  #soon(changed: Collection<KubeObject>): void {
    this.#changed.add(changed);
    if (this.#changed.size > 1) return;
    requestAnimationFrame(() => {
      batch(() => {
        for (const { version } of this.#changed) version.value += 1;
      });
      this.#changed.clear();
    });
  }
}

export const CollectionsContext = createContext<Collections | undefined>(undefined);

export function useCollections(): Collections {
  const collections = useContext(CollectionsContext);
  if (collections === undefined) throw new Error("a view outside of the page");
  return collections;
}

/** The collection, watched while the calling view is shown. */
export function useCollection<T extends KubeObject>(
  resource: Resource,
  namespace: string,
  { name, labels, metadataOnly }: Which = {},
): Collection<T> {
  const collections = useCollections();
  const found = useMemo(
    () =>
      collections.of<T>(resource, namespace, {
        ...(name !== undefined && { name }),
        ...(labels !== undefined && { labels }),
        ...(metadataOnly !== undefined && { metadataOnly }),
      }),
    [collections, resource, namespace, name, labels, metadataOnly],
  );
  useEffect(() => found.use(), [found]);
  return found;
}
