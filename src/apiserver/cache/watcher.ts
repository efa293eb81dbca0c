/** Who watches a resource, and which changes concern them. */
import type { Revision } from "#store";
import type { CacheEvent, WatchEvent } from "./watch-event.ts";

export interface WatcherSink {
  /** Called in the order of revisions. */
  event(event: WatchEvent): void;
  /** The cache was replaced and events may be missing: the watcher has to start again. */
  expired(): void;
  /** No more events will come: the resource is not served any more, or in another form. */
  ended?(): void;
}

/** A watcher that gets both states of a change. */
export interface ChangeSink extends Omit<WatcherSink, "event"> {
  change(event: CacheEvent): void;
}

export interface Watcher {
  /** It has seen all events up to this revision. */
  readonly after: Revision;
  readonly sink: ChangeSink;
}

/** `at`: "" for all, "ns/" for a namespace, "ns/name" for one object. */
export function concerns(at: string, suffix: string): boolean {
  return at === "" || at === suffix || (at.endsWith("/") && suffix.startsWith(at));
}
