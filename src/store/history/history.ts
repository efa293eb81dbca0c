/**
 * How much history a store keeps, and when it compacts.
 *
 * 1. The decision is pure: `compactTarget` looks at marks: the store's revision at points in time.
 * 2. The keeper has one timer, only while there is history to compact. It ends with its signal.
 * 3. `wrote` also decides: a burst of writes between two ticks exceeds the limits by at most one mark's step.
 */

import type { Clock, Timer } from "#base";
import type { Revision } from "../model/store.ts";

export interface HistoryPolicy {
  readonly maxAgeMs: number;
  readonly maxChanges: number;
  /** Bytes of the values that only history keeps. */
  readonly maxBytes: number;
}

export const DEFAULT_HISTORY: HistoryPolicy = {
  maxAgeMs: 5 * 60_000,
  maxChanges: 100_000,
  maxBytes: 64 * 1024 * 1024,
};

/** The store's revision at some time. */
export interface Mark {
  readonly atMs: number;
  readonly revision: Revision;
  /** Bytes that went into history up to this revision, compacted ones included. */
  readonly bytes: number;
}

/**
 * The revision to compact to, or undefined if all history may stay. `marks` are in order; the first is the revision
 * that the store was last compacted to. Every revision is one change.
 */
export function compactTarget(policy: HistoryPolicy, marks: readonly Mark[], now: Mark): Revision | undefined {
  const [oldest] = marks;
  if (oldest === undefined) return undefined;
  const aged = marks.findLast((mark) => mark.atMs <= now.atMs - policy.maxAgeMs)?.revision ?? 0;
  const crowded = now.revision - policy.maxChanges;
  const light = marks.find((mark) => now.bytes - mark.bytes <= policy.maxBytes) ?? now;
  const target = Math.max(aged, crowded, light.revision);
  return target > oldest.revision ? target : undefined;
}

export interface HistoryOptions {
  readonly clock: Clock;
  readonly policy: HistoryPolicy;
  readonly signal: AbortSignal;
  /** Compacts the store; one call at a time. */
  compact(revision: Revision): Promise<void> | void;
  /** Called when `compact` failed. The next tick tries again. */
  failed(error: unknown): void;
}

/** Marks are at least this part of a limit apart. */
const STEPS = 16;

export class HistoryKeeper {
  readonly #options: HistoryOptions;
  /** In order; the first is the compacted revision. */
  #marks: Mark[];
  #revision: Revision;
  #bytes = 0;
  #timer: Timer | undefined;
  #compacting = false;

  /** `compacted` and `revision`: the history at the start. Its age is unknown: it counts as new. */
  constructor(options: HistoryOptions, compacted: Revision, revision: Revision) {
    this.#options = options;
    this.#revision = revision;
    this.#marks = [{ ...this.#now(), revision: compacted }, this.#now()];
    options.signal.addEventListener("abort", () => this.#timer?.cancel(), { once: true });
    this.#arm();
  }

  /** To be called for writes: the newest revision, and how many bytes these changes moved into history. */
  wrote(revision: Revision, bytes: number): void {
    this.#revision = revision;
    this.#bytes += bytes;
    const { policy } = this.#options;
    const last = this.#marks.at(-1) ?? this.#now();
    const stepped =
      revision - last.revision >= policy.maxChanges / STEPS || this.#bytes - last.bytes >= policy.maxBytes / STEPS;
    if (stepped) this.#decide();
    else this.#arm();
  }

  #now(): Mark {
    return { atMs: this.#options.clock.monotonic(), revision: this.#revision, bytes: this.#bytes };
  }

  #arm(): void {
    const { clock, policy, signal } = this.#options;
    const forgettable = this.#revision > (this.#marks[0]?.revision ?? this.#revision);
    if (this.#timer !== undefined || !forgettable || signal.aborted) return;
    this.#timer = clock.timer(policy.maxAgeMs / STEPS, () => {
      this.#timer = undefined;
      this.#decide();
    });
  }

  #decide(): void {
    const now = this.#now();
    const { policy, signal } = this.#options;
    if (signal.aborted) return;
    if (this.#marks.at(-1)?.revision !== now.revision) this.#marks.push(now);
    const target = compactTarget(policy, this.#marks, now);
    if (target === undefined || this.#compacting) this.#arm();
    else void this.#compact(target);
  }

  async #compact(target: Revision): Promise<void> {
    this.#compacting = true;
    try {
      await this.#options.compact(target);
      const passed = this.#marks.findLastIndex((mark) => mark.revision <= target);
      const at = this.#marks[passed] ?? this.#now();
      this.#marks = [{ ...at, revision: target }, ...this.#marks.slice(passed + 1)];
    } catch (error) {
      this.#options.failed(error);
    }
    this.#compacting = false;
    this.#arm();
  }
}
