/**
 * Tells the API server of works that send it no request of their own, such as rules for a kernel: they are part of a flow all the same.
 *
 * 1. Nothing waits for it. What cannot be told is not told, and nobody fails because of it: an API server may keep no records.
 * 2. What comes while something is being told is told next, all at once; of too much, the latest.
 */
import { isAbort, type Logger } from "#base";
import { type WorkFacts, Works } from "#flows";
import type { Client } from "./requests/client.ts";

const PATH = "/k8ts/flows";
const MAX_WAITING = 100;

export interface WorkReporterOptions {
  readonly client: Client;
  /** As diagrams call it: `proxy/n1`. */
  readonly actor: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class WorkReporter {
  readonly #options: WorkReporterOptions;
  readonly #works: Works;
  #waiting: string[] = [];
  #isTelling = false;

  constructor(options: WorkReporterOptions) {
    this.#options = options;
    this.#works = new Works(options.actor);
  }

  report(facts: WorkFacts): void {
    this.#waiting.push(this.#works.cause(facts));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (!this.#isTelling) void this.#tell();
  }

  async #tell(): Promise<void> {
    const { client, log, signal } = this.#options;
    this.#isTelling = true;
    while (this.#waiting.length > 0 && !signal.aborted) {
      try {
        await client.post(PATH, this.#waiting.splice(0), { signal });
      } catch (error) {
        if (!isAbort(error, signal)) log.debug("works could not be told of", { error });
      }
    }
    this.#isTelling = false;
  }
}
