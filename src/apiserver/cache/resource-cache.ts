/**
 * The watch cache of one resource: the current objects in order, and the recent events.
 *
 * 1. Reads and watches never touch the store. Objects sort by namespace and name, like their keys in the store.
 * 2. A write costs nothing for watchers that it does not concern: watchers are found by namespace, by name, and by
 *    indexed fields.
 * 3. A watch from a revision gets every event after it, or fails because the revision is too old.
 * 4. `snapshot` is O(1): all pages of a list are read from the same state, whatever is written between them.
 * 5. An object that cannot be read has no event: watchers that it concerns have to start again, and their list fails
 *    with the reason. The server itself reads through `tryWith`: one bad object is reported and stops nothing.
 *
 * Speed (2026-11-18). The last page is kept: clients that list at the same time share it and its bytes
 * (`encode/list-body.ts` has the figures). A write keeps its value for the watchers, which need not parse it:
 * `bench/writes.ts`, create of a Pod 101 instead of 141 µs of cpu. `RecentValues` bounds them.
 */
import { OrderedMap } from "#base";
import type { Change, Entry, Revision } from "#store";
import { CacheCounts } from "./cache-counts.ts";
import type { Subscriber } from "./feed.ts";
import { FieldIndex, type FieldValue } from "./field-index.ts";
import { RecentValues } from "./recent-values.ts";
import { RecentWrites } from "./recent-writes.ts";
import { matcher, type Selection } from "./selection.ts";
import { StoredObject } from "./stored-object.ts";
import { CacheEvent } from "./watch-event.ts";
import { type ChangeSink, concerns, type Watcher, type WatcherSink } from "./watcher.ts";

export const WINDOW_EVENTS = 10_000;
const KEPT_SNAPSHOTS = 64;
/** A larger page is not kept. */
const MAX_PAGE_OBJECTS = 5_000;

export type { ChangeSink, WatcherSink } from "./watcher.ts";

/** Reports an object that cannot be decoded or processed. */
export type ReportUnreadable = (key: string, error: unknown) => void;

export type ObjectMap = OrderedMap<string, StoredObject>;

export class ResourceCache implements Subscriber {
  readonly prefix: string;
  readonly counts = new CacheCounts();
  #objects: ObjectMap = new OrderedMap();
  /** The same objects by key alone: each write finds its object four times. */
  readonly #byKey = new Map<string, StoredObject>();
  /** Recent events in order; those before `#windowStart` have been dropped. */
  #window: CacheEvent[] = [];
  #windowStart: Revision = 0;
  /** Watchers by what they select: "" for all, "ns/" for a namespace, "ns/name" for one object. */
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** By the name of the field; made on first use. */
  readonly #indexes = new Map<string, FieldIndex<Watcher>>();
  /** States of lists whose pages have not all been read, newest last. */
  readonly #snapshots = new Map<Revision, ObjectMap>();
  /** Writes of this process, by revision, until their change arrives from the feed. */
  readonly #written = new RecentWrites();
  readonly #values = new RecentValues();
  #newest: Revision = 0;
  #page: { readonly of: string; readonly objects: readonly StoredObject[] } | undefined;

  readonly #onUnreadable: ReportUnreadable;
  /** The revision at which each bad object was reported, so that it is reported once. */
  readonly #reported = new Map<string, Revision>();

  constructor(prefix: string, onUnreadable: ReportUnreadable = () => {}) {
    this.prefix = prefix;
    this.#onUnreadable = onUnreadable;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** A watch can start from this revision on. */
  get oldest(): Revision {
    return this.#windowStart;
  }

  /** The revision of the last change, or of the last list. */
  get newest(): Revision {
    return this.#newest;
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key);
  }

  /** The current objects; a fork that later writes do not change. */
  snapshot(): ObjectMap {
    return this.#objects.fork();
  }

  /** Runs `work` on an object. If that throws, the object is reported, once, and the result is false. */
  tryWith(stored: StoredObject, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (this.#reported.get(stored.key) !== stored.revision) this.#onUnreadable(stored.key, error);
      this.#reported.set(stored.key, stored.revision);
      return false;
    }
  }

  /** Keeps a state for the next pages of a list at `revision`. */
  keep(revision: Revision, objects: ObjectMap): void {
    this.#snapshots.set(revision, objects);
    for (const old of this.#snapshots.keys()) {
      if (this.#snapshots.size <= KEPT_SNAPSHOTS) break;
      this.#snapshots.delete(old);
    }
  }

  kept(revision: Revision): ObjectMap | undefined {
    return this.#snapshots.get(revision);
  }

  /**
   * The last page that was read of the current state, until something changes: many clients that list at the same time,
   * as after a restart, share it and its bytes. `of` identifies the page.
   */
  lastPage(of: string): readonly StoredObject[] | undefined {
    return this.#page?.of === of ? this.#page.objects : undefined;
  }

  rememberPage(of: string, objects: readonly StoredObject[]): void {
    if (objects.length <= MAX_PAGE_OBJECTS) this.#page = { of, objects };
  }

  /** Takes a write of this process, so that its value need not be parsed when its change arrives. */
  wrote(stored: StoredObject): void {
    // A store behind a network may report the change before it answers the write.
    if (stored.revision > this.#newest) this.#written.add(stored);
    this.#values.add(stored);
  }

  replace(entries: readonly Entry[], revision: Revision): void {
    this.counts.initializations++;
    this.#objects = new OrderedMap();
    this.#byKey.clear();
    for (const entry of entries) this.#keep(this.#suffix(entry.key), new StoredObject(entry));
    this.#restart(revision);
  }

  /** Begins with the objects of another cache of the same prefix, which it shares with it: nothing is parsed again. */
  adopt(other: Subscriber, revision: Revision): boolean {
    if (!(other instanceof ResourceCache)) return false;
    this.#objects = other.#objects.fork();
    this.#byKey.clear();
    for (const [suffix, stored] of other.#byKey) this.#byKey.set(suffix, stored);
    this.#restart(revision);
    return true;
  }

  #restart(revision: Revision): void {
    this.#window = [];
    this.#windowStart = revision;
    this.#newest = revision;
    this.#snapshots.clear();
    this.#reported.clear();
    this.#written.clear();
    this.#page = undefined;
    for (const index of this.#indexes.values()) this.#fill(index);
    for (const set of this.#watchers.values()) for (const { sink } of [...set]) sink.expired();
    for (const { sink } of this.#indexed()) sink.expired();
  }

  change({ key, revision, entry }: Change): void {
    this.counts.received++;
    const suffix = this.#suffix(key);
    const previous = this.#byKey.get(suffix);
    let current: StoredObject | undefined;
    if (entry === undefined) {
      this.#objects.delete(suffix);
      this.#byKey.delete(suffix);
      this.#reported.delete(key);
    } else {
      current = this.#written.take(revision) ?? new StoredObject(entry);
      this.#keep(suffix, current);
    }
    this.#page = undefined;
    this.#newest = revision;
    for (const index of this.#indexes.values()) index.change(suffix, previous, current);
    if (current?.isUnreadable === true) {
      this.#window = [];
      this.#windowStart = revision;
      this.#expire(suffix);
      return;
    }
    // To watchers, an object that could not be read did not exist.
    const seen = previous?.isUnreadable === true ? undefined : previous;
    if (current === undefined && seen === undefined) return;
    const event = new CacheEvent(revision, current, seen);
    this.#remember(event);
    this.#deliver(suffix, event);
  }

  /**
   * Delivers all events after a revision, which may be in the future, then new ones as they come. Undefined: the
   * revision is too old. The returned function ends the watch.
   */
  watch(selection: Selection, after: Revision, sink: WatcherSink): (() => void) | undefined {
    const matches = matcher(selection);
    return this.watchChanges(selection, after, {
      change: (event) => {
        const seen = event.seenBy(matches);
        if (seen !== undefined) sink.event(seen);
      },
      expired: () => sink.expired(),
      ended: () => sink.ended?.(),
    });
  }

  /**
   * As `watch`, with every change of the selected namespace, name or field value, whether or not the selectors match.
   */
  watchChanges(
    { namespace = "", name, exactly }: Pick<Selection, "namespace" | "name" | "exactly">,
    after: Revision,
    sink: ChangeSink,
  ): (() => void) | undefined {
    if (after < this.#windowStart) return undefined;
    const at =
      name !== undefined ? (namespace === "" ? name : `${namespace}/${name}`) : namespace === "" ? "" : `${namespace}/`;
    const watcher: Watcher = { after, sink };
    for (let i = this.#firstAfter(after); i < this.#window.length; i++) {
      const event = this.#window[i];
      const key = (event?.current ?? event?.previous)?.key;
      if (event === undefined || key === undefined || !concerns(at, this.#suffix(key))) continue;
      this.counts.initEvents++;
      sink.change(event);
    }
    if (at === "" && exactly !== undefined) return this.#index(exactly).watch(exactly.value, watcher);
    const set = this.#watchers.get(at) ?? new Set();
    this.#watchers.set(at, set.add(watcher));
    return () => {
      set.delete(watcher);
      if (set.size === 0 && this.#watchers.get(at) === set) this.#watchers.delete(at);
    };
  }

  /** Ends every watch. */
  endWatches(): void {
    for (const set of this.#watchers.values()) for (const { sink } of [...set]) sink.ended?.();
    for (const { sink } of this.#indexed()) sink.ended?.();
  }

  /** The current objects with one value of an indexed field, in no particular order. */
  *withValue(exactly: FieldValue): Generator<StoredObject> {
    for (const key of this.#index(exactly).keys(exactly.value)) {
      const stored = this.#byKey.get(key);
      if (stored !== undefined) yield stored;
    }
  }

  #index({ field, valueOf: read }: FieldValue): FieldIndex<Watcher> {
    let index = this.#indexes.get(field);
    if (index === undefined) {
      index = new FieldIndex(read);
      this.#fill(index);
      this.#indexes.set(field, index);
    }
    return index;
  }

  #keep(suffix: string, stored: StoredObject): void {
    this.#objects.set(suffix, stored);
    this.#byKey.set(suffix, stored);
  }

  #fill(index: FieldIndex<Watcher>): void {
    index.clear();
    for (const stored of this.#objects.values()) index.change(this.#suffix(stored.key), undefined, stored);
  }

  /** All watchers of indexed fields, as they are now. */
  #indexed(): readonly Watcher[] {
    return [...this.#indexes.values()].flatMap((index) => [...index.all()]);
  }

  #suffix(key: string): string {
    return key.slice(this.prefix.length);
  }

  #remember(event: CacheEvent): void {
    this.#window.push(event);
    if (this.#window.length < 2 * WINDOW_EVENTS) return;
    const dropped = this.#window.length - WINDOW_EVENTS;
    this.#windowStart = this.#window[dropped - 1]?.revision ?? this.#windowStart;
    this.#window = this.#window.slice(dropped);
  }

  #firstAfter(revision: Revision): number {
    let [low, high] = [0, this.#window.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#window[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #deliver(suffix: string, event: CacheEvent): void {
    this.#deliverAt("", event);
    const slash = suffix.indexOf("/");
    if (slash !== -1) this.#deliverAt(suffix.slice(0, slash + 1), event);
    this.#deliverAt(suffix, event);
    for (const index of this.#indexes.values())
      for (const watcher of index.concerned(event.previous, event.current)) this.#give(event, watcher);
  }

  #expire(suffix: string): void {
    const slash = suffix.indexOf("/");
    for (const at of ["", ...(slash === -1 ? [] : [suffix.slice(0, slash + 1)]), suffix])
      for (const { sink } of [...(this.#watchers.get(at) ?? [])]) sink.expired();
    // Its field values cannot be read, so every watcher by a field may be concerned.
    for (const { sink } of this.#indexed()) sink.expired();
  }

  #deliverAt(at: string, event: CacheEvent): void {
    const watchers = this.#watchers.get(at);
    if (watchers === undefined) return;
    for (const watcher of watchers) this.#give(event, watcher);
  }

  #give(event: CacheEvent, { after, sink }: Watcher): void {
    if (event.revision <= after) return;
    this.counts.dispatched++;
    sink.change(event);
  }
}
