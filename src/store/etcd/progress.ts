/**
 * Tells watches that they are up to date, in rounds: however many ask, one read of the newest revision serves all.
 *
 * 1. Who asks while a round is under way is served by the next one: the revision that counts is that of the moment of
 *    asking, and the read of the round before may be older.
 * 2. A round ends when the feed has delivered everything up to the revision read, not before.
 */

import type { TaskGroup } from "#base";
import type { Revision } from "../model/store.ts";

export interface ProgressOptions {
  readonly tasks: TaskGroup;
  /** The cluster's revision at some moment after the call; tries until it gets an answer. */
  newest(signal: AbortSignal): Promise<Revision>;
  /** Resolves when everything up to this revision can be read by watches. */
  reached(revision: Revision, signal: AbortSignal): Promise<void>;
}

export class ProgressRounds {
  readonly #options: ProgressOptions;
  readonly #asking = new Set<() => void>();
  #running = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** `tell` is called when everything up to the newest revision of this moment can be read. */
  ask(tell: () => void): void {
    const { tasks } = this.#options;
    if (tasks.signal.aborted) return;
    this.#asking.add(tell);
    if (this.#running) return;
    this.#running = true;
    tasks.run("watch progress", async (signal) => {
      try {
        while (this.#asking.size > 0) await this.#round(signal);
      } finally {
        this.#running = false;
      }
    });
  }

  async #round(signal: AbortSignal): Promise<void> {
    const round = [...this.#asking];
    this.#asking.clear();
    await this.#options.reached(await this.#options.newest(signal), signal);
    for (const tell of round) tell();
  }
}
