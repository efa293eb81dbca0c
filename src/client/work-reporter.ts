/**
 * Reports work that sends no request of its own, such as rules for a kernel, to the API server's flow recorder.
 *
 * 1. Nothing waits for it, and a failed report is dropped: an API server may keep no records.
 * 2. Work that is recorded during a report goes into the next one, in one batch; of too many, the latest are kept.
 */
import { isAbort, type Logger } from "#base";
import { type WorkFacts, Works } from "#flows";
import type { Client } from "./requests/client.ts";

const PATH = "/k8ts/flows";
const MAX_WAITING = 100;

export interface WorkReporterOptions {
  readonly client: Client;
  /** Its name in diagrams: `proxy/n1`. */
  readonly actor: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class WorkReporter {
  readonly #options: WorkReporterOptions;
  readonly #works: Works;
  #waiting: string[] = [];
  #isReporting = false;

  constructor(options: WorkReporterOptions) {
    this.#options = options;
    this.#works = new Works(options.actor);
  }

  report(facts: WorkFacts): void {
    this.#waiting.push(this.#works.cause(facts));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (!this.#isReporting) void this.#report();
  }

  async #report(): Promise<void> {
    const { client, log, signal } = this.#options;
    this.#isReporting = true;
    while (this.#waiting.length > 0 && !signal.aborted) {
      try {
        await client.post(PATH, this.#waiting.splice(0), { signal });
      } catch (error) {
        if (!isAbort(error, signal)) log.debug("work could not be reported", { error });
      }
    }
    this.#isReporting = false;
  }
}
