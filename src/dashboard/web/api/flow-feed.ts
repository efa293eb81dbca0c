/**
 * The flow records that the API server has, and those that come: followed first, then asked for from the beginning, so that none is lost between.
 */
import { type Signal, signal } from "@preact/signals";
import type { FlowRecord } from "#flows";
import { FlowRecords } from "../model/flow-records.ts";
import { sleep } from "../time.ts";
import { Refused, wordsOf } from "./request.ts";
import { LineReader, type StreamConnection } from "./streams.ts";

export class FlowFeed {
  readonly records = new FlowRecords();
  /** Grows with each frame in which something came. */
  readonly version: Signal<number> = signal(0);
  readonly words: Signal<string> = signal("");
  readonly #streams: StreamConnection;
  #frame = 0;

  constructor(streams: StreamConnection) {
    this.#streams = streams;
  }

  /** Until the signal aborts. */
  async run(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const inner = new AbortController();
      const lost = this.#read("/k8ts/flows?follow=true", AbortSignal.any([ending, inner.signal]));
      try {
        await Promise.race([lost, this.#read("/k8ts/flows", ending)]);
        this.words.value = "";
        await lost;
      } catch (error) {
        const isForbidden = error instanceof Refused && error.code === 403;
        this.words.value = isForbidden ? `You may not see flows: ${wordsOf(error)}` : wordsOf(error);
      }
      inner.abort();
      await lost.catch(() => undefined);
      await sleep(3000, ending);
    }
  }

  #read(path: string, ending: AbortSignal): Promise<void> {
    const lines = new LineReader();
    return new Promise((resolve, reject) => {
      const close = this.#streams.open(path, {
        onText: (text) => {
          const found = lines.read(text).filter(Boolean);
          if (this.records.add(found.map((line) => JSON.parse(line) as FlowRecord))) this.#changed();
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
