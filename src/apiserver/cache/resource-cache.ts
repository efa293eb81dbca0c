/**
 * What the API server keeps of one resource: the current objects, in order, and the recent events.
 *
 * 1. Reads and watches never touch the store. Objects sort by namespace and name, as their keys in the store do.
 * 2. A write costs nothing for watchers that are not concerned: they are found by namespace, by name, and by fields that are indexed.
 * 3. A watch from a revision gets every event after it, or is told that it is too old.
 * 4. `snapshot` is O(1): pages of one list are read from the same state, whatever is written between them.
 * 5. What cannot be read cannot be told of: watchers that are concerned have to start again, and their list says what is wrong. The server
 *    itself reads through `tryWith`: one bad object is reported and stops nothing.
 */
import { OrderedMap } from "#base";
import type { Change, Entry, Revision } from "#store";
import type { Subscriber } from "./feed.ts";
import { FieldIndex, type FieldValue } from "./field-index.ts";
import { RecentWrites } from "./recent-writes.ts";
import { matcher, type Selection } from "./selection.ts";
import { StoredObject } from "./stored-object.ts";
import { CacheEvent, type WatchEvent } from "./watch-event.ts";

const WINDOW_EVENTS = 10_000;
const KEPT_SNAPSHOTS = 64;
/** More than are written at once: watchers look at a write when all that was committed with it is there. */
const KEPT_VALUES = 512;
/** A larger page costs more to keep than to make again. */
const MAX_PAGE_OBJECTS = 5_000;

export interface WatcherSink {
  /** Called in the order of revisions. */
  event(event: WatchEvent): void;
  /** The cache was filled anew and events may be missing: the watcher has to start again. */
  expired(): void;
  /** Nothing more will come: the resource is served no longer, or not as it was. */
  ended?(): void;
}

/** A watcher that looks at both states of a change itself. */
export interface ChangeSink extends Omit<WatcherSink, "event"> {
  change(event: CacheEvent): void;
}

interface Watcher {
  /** It has seen everything up to here already. */
  readonly after: Revision;
  readonly sink: ChangeSink;
}

/** Reports an object that cannot be decoded, or that its reader cannot work with. */
export type ReportUnreadable = (key: string, error: unknown) => void;

export type ObjectMap = OrderedMap<string, StoredObject>;

export class ResourceCache implements Subscriber {
  readonly prefix: string;
  #objects: ObjectMap = new OrderedMap();
  /** The same objects, found by their key alone: every write looks for what it changes, and the way through an ordered map is long. */
  #byKey = new Map<string, StoredObject>();
  /** Recent events in order; those before `#windowStart` have been dropped. */
  #window: CacheEvent[] = [];
  #windowStart: Revision = 0;
  /** Watchers by what they select: "" for all, "ns/" for a namespace, "ns/name" for one object. */
  readonly #watchers = new Map<string, Set<Watcher>>();
  /** By the name of the field; made when somebody first asks. */
  readonly #indexes = new Map<string, FieldIndex<Watcher>>();
  /** States that a list has not been read to its end of, newest last. */
  readonly #snapshots = new Map<Revision, ObjectMap>();
  /** This process's own writes until their change arrives. */
  readonly #written = new RecentWrites();
  /** This process's last writes, whose values are still at hand for who wants them. */
  readonly #valued: StoredObject[] = [];
  #writes = 0;
  #newest: Revision = 0;
  #page: { readonly of: string; readonly objects: readonly StoredObject[] } | undefined;

  readonly #onUnreadable: ReportUnreadable;
  /** The revision at which each bad object was reported: once is enough. */
  readonly #reported = new Map<string, Revision>();

  constructor(prefix: string, onUnreadable: ReportUnreadable = () => {}) {
    this.prefix = prefix;
    this.#onUnreadable = onUnreadable;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** A watch can start from here on. */
  get oldest(): Revision {
    return this.#windowStart;
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key);
  }

  /** The current objects; a fork that later writes do not change. */
  snapshot(): ObjectMap {
    return this.#objects.fork();
  }

  /** Does something with an object. If that fails, the object is reported, once, and the answer is false. */
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

  /** Keeps a state for the next pages of a list that was read as of `revision`. */
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
   * The page that was last read of the current state, `of` what, until something changes: when many clients list at once, as they do after a restart,
   * they share it and all that is made of it.
   */
  lastPage(of: string): readonly StoredObject[] | undefined {
    return this.#page?.of === of ? this.#page.objects : undefined;
  }

  rememberPage(of: string, objects: readonly StoredObject[]): void {
    if (objects.length <= MAX_PAGE_OBJECTS) this.#page = { of, objects };
  }

  /** A write of this process, so that its value need not be parsed when its change arrives. */
  wrote(stored: StoredObject): void {
    // A store across a network may tell of the change before it answers the write.
    if (stored.revision > this.#newest) this.#written.add(stored);
    const at = this.#writes++ % KEPT_VALUES;
    this.#valued[at]?.letGo();
    this.#valued[at] = stored;
  }

  replace(entries: readonly Entry[], revision: Revision): void {
    this.#objects = new OrderedMap();
    this.#byKey = new Map(entries.map((entry) => [this.#suffix(entry.key), new StoredObject(entry)]));
    for (const [suffix, stored] of this.#byKey) this.#objects.set(suffix, stored);
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
    const suffix = this.#suffix(key);
    const previous = this.#byKey.get(suffix);
    let current: StoredObject | undefined;
    if (entry === undefined) {
      this.#objects.delete(suffix);
      this.#byKey.delete(suffix);
      this.#reported.delete(key);
    } else {
      current = this.#written.take(revision) ?? new StoredObject(entry);
      this.#objects.set(suffix, current);
      this.#byKey.set(suffix, current);
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
    // An object that nobody could see appears with the first state that can be read, and is not missed if there is none.
    const seen = previous?.isUnreadable === true ? undefined : previous;
    if (current === undefined && seen === undefined) return;
    const event = new CacheEvent(revision, current, seen);
    this.#remember(event);
    this.#tell(suffix, event);
  }

  /**
   * Delivers all events after a revision, which may be one that is still to come, then new ones as they come. Undefined: the revision is too old.
   * The function ends the watch.
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

  /** As `watch`, with every change where the selection looks, whether or not its selectors match. */
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
      if (event !== undefined && key !== undefined && concerns(at, this.#suffix(key))) sink.change(event);
    }
    if (at === "" && exactly !== undefined) return this.#index(exactly).watch(exactly.value, watcher);
    const set = this.#watchers.get(at) ?? new Set();
    this.#watchers.set(at, set.add(watcher));
    return () => {
      set.delete(watcher);
      if (set.size === 0 && this.#watchers.get(at) === set) this.#watchers.delete(at);
    };
  }

  /** Ends every watch: whoever wants to go on has to come again. */
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

  #tell(suffix: string, event: CacheEvent): void {
    this.#tellAt("", event);
    const slash = suffix.indexOf("/");
    if (slash !== -1) this.#tellAt(suffix.slice(0, slash + 1), event);
    this.#tellAt(suffix, event);
    for (const index of this.#indexes.values())
      for (const { after, sink } of index.concerned(event.previous, event.current))
        if (event.revision > after) sink.change(event);
  }

  #expire(suffix: string): void {
    const slash = suffix.indexOf("/");
    for (const at of ["", ...(slash === -1 ? [] : [suffix.slice(0, slash + 1)]), suffix])
      for (const { sink } of [...(this.#watchers.get(at) ?? [])]) sink.expired();
    // What it was or is cannot be told any more: whoever asks by a field has to look again.
    for (const { sink } of this.#indexed()) sink.expired();
  }

  #tellAt(at: string, event: CacheEvent): void {
    const watchers = this.#watchers.get(at);
    if (watchers === undefined) return;
    for (const { after, sink } of watchers) if (event.revision > after) sink.change(event);
  }
}

function concerns(at: string, suffix: string): boolean {
  return at === "" || at === suffix || (at.endsWith("/") && suffix.startsWith(at));
}
