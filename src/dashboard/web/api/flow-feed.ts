/**
 * Existing flow records, then new ones, over one stream. After an interruption it resumes after the last record; after
 * a restart of the server, whose record numbers start over, the new records replace the old ones.
 */
import { type Signal, signal } from "@preact/signals";
import { type FlowLine, FlowRecords } from "../model/flow-records.ts";
import { sleep } from "../time.ts";
import { Refused, wordsOf } from "./request.ts";
import { LineReader, type StreamConnection } from "./streams.ts";

const RETRY_MS = 3000;

export class FlowFeed {
  readonly records = new FlowRecords();
  /** Incremented in each frame with new records. */
  readonly version: Signal<number> = signal(0);
  readonly words: Signal<string> = signal("");
  readonly #streams: StreamConnection;
  #frame = 0;

  constructor(streams: StreamConnection) {
    this.#streams = streams;
  }

  /** Runs until the signal aborts. */
  async run(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      try {
        await this.#follow(ending);
      } catch (error) {
        const isForbidden = error instanceof Refused && error.code === 403;
        this.words.value = isForbidden ? `Flows are forbidden: ${wordsOf(error)}` : wordsOf(error);
      }
      await sleep(RETRY_MS, ending);
    }
  }

  #follow(ending: AbortSignal): Promise<void> {
    const lines = new LineReader();
    const after = this.records.last === undefined ? "" : `&after=${this.records.last}`;
    return new Promise((resolve, reject) => {
      const close = this.#streams.open(`/k8ts/flows?follow=true${after}`, {
        onOpen: () => {
          this.words.value = "";
          this.records.begin();
        },
        onText: (text) => {
          const found = lines.read(text).filter(Boolean);
          if (this.records.add(found.map((line) => JSON.parse(line) as FlowLine))) this.#changed();
        },
        onEnd: (error) => (error === undefined ? resolve() : reject(error)),
      });
      const leave = () => {
        close();
        resolve();
      };
      ending.addEventListener("abort", leave, { once: true });
    });
  }

  #changed(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value += 1;
    });
  }
}
