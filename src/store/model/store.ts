/**
 * The contract of all backends: keys and bytes under one global revision, in etcd's model.
 *
 * 1. Every effective write raises the store's revision by one and touches exactly one key. Revisions never go back,
 *    also not after a crash or a restore.
 * 2. A write that was answered `ok` is durable, in the sense of its backend, and visible to every later read.
 *    A write that failed with `maybeApplied` may or may not have happened; any other failure changed nothing.
 * 3. A watch delivers every change after its start, in order of revision, each exactly once, or ends with an error.
 * 4. Reads and watches never show a write that could still be lost.
 * 5. Values are shared, not copied: callers must not change a value that they passed in or got.
 */

export type Revision = number;

export interface Entry {
  readonly key: string;
  readonly value: Buffer;
  /** The revision that created the key; a key that is deleted and created again gets a new one. */
  readonly createRevision: Revision;
  /** The revision of the last write to the key. */
  readonly revision: Revision;
}

/**
 * `entry` is undefined when the key was deleted, `previous` when it was created or when its last state has been
 * compacted. A backend may read `previous` on access: read it at once if you need it.
 */
export interface Change {
  readonly key: string;
  readonly revision: Revision;
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

/** Compare-and-swap: a refused write is an outcome, not an error, and carries the current entry. */
export type WriteOutcome =
  | { readonly ok: true; readonly revision: Revision }
  | { readonly ok: false; readonly current: Entry | undefined };

export interface CallOptions {
  /** How long the call may take before it fails as Unavailable. Backends without a network ignore it. */
  readonly timeoutMs?: number;
}

export interface ReadOptions extends CallOptions {
  /** `local` may be answered by one member without quorum, and may then be out of date. Default: `latest`. */
  readonly consistency?: "latest" | "local";
}

export interface ListOptions extends ReadOptions {
  /** Reads at this revision; the newest if absent. */
  readonly revision?: Revision | undefined;
  readonly limit?: number | undefined;
  /** Only keys that sort after this one: the last key of the page before. */
  readonly after?: string | undefined;
}

export interface Page {
  /** In the order of their keys' bytes. */
  readonly entries: readonly Entry[];
  /** The revision of the page; pass it on to read the next page of the same state. */
  readonly revision: Revision;
  readonly more: boolean;
}

export interface WatchOptions {
  /** Changes after this revision are delivered; normally the revision of the list before. */
  readonly after: Revision;
  readonly signal: AbortSignal;
}

/**
 * All changes to the watched keys up to and including `revision` have been delivered with this batch; it may hold none.
 */
export interface WatchBatch {
  readonly changes: readonly Change[];
  readonly revision: Revision;
}

/**
 * Iterate it once. It ends when its signal aborts and throws StoreError `Compacted` when the history it needs is gone,
 * be it too old from the start or read too slowly: list and watch again.
 */
export interface Watch extends AsyncIterable<WatchBatch> {
  /** Requests a batch, possibly empty, whose revision is at least the store's current one. */
  requestProgress(): void;
}

export interface Store {
  get(key: string, options?: ReadOptions): Promise<Entry | undefined>;
  list(prefix: string, options?: ListOptions): Promise<Page>;
  count(prefix: string, options?: ReadOptions): Promise<number>;

  create(key: string, value: Buffer, options?: CallOptions): Promise<WriteOutcome>;
  update(key: string, value: Buffer, expected: Revision, options?: CallOptions): Promise<WriteOutcome>;
  delete(key: string, expected: Revision, options?: CallOptions): Promise<WriteOutcome>;

  watch(prefix: string, options: WatchOptions): Watch;

  /** The newest revision. */
  revision(options?: ReadOptions): Promise<Revision>;
  /**
   * Drops all history before `revision`: older lists and watches fail as Compacted. Compacting to an older revision
   * does nothing.
   */
  compact(revision: Revision, options?: CallOptions): Promise<void>;
  /** How many bytes the data take on the disks of a member. Absent: the backend cannot tell. */
  sizeBytes?(): Promise<number>;

  /** Ends watches, finishes writes under way, releases everything. Calls after it fail as Closed. */
  close(): Promise<void>;
}
