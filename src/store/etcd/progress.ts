/**
 * Answers progress requests of watches, in rounds: one read of the newest revision serves all requests of a round.
 *
 * 1. A request during a round is served by the next one: the read of the current round may be older than the request.
 * 2. A round ends when the feed has delivered everything up to the revision read, not before.
 */

import type { TaskGroup } from "#base";
import type { Revision } from "../model/store.ts";

export interface ProgressOptions {
  readonly tasks: TaskGroup;
  /** The cluster's revision at some moment after the call; retries until there is an answer. */
  newest(signal: AbortSignal): Promise<Revision>;
  /** Resolves when watches can read everything up to this revision. */
  reached(revision: Revision, signal: AbortSignal): Promise<void>;
}

export class ProgressRounds {
  readonly #options: ProgressOptions;
  readonly #asking = new Set<() => void>();
  #running = false;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Calls `report` when everything up to the revision at the time of this call can be read. */
  ask(report: () => void): void {
    const { tasks } = this.#options;
    if (tasks.signal.aborted) return;
    this.#asking.add(report);
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
    for (const report of round) report();
  }
}
