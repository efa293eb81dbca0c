/**
 * Delays Events about pods behind the bindings, so that they do not slow down scheduling.
 *
 * 1. While pods are being placed, Events are written one by one with pauses; when the scheduler is idle, many at a
 *    time.
 * 2. Bounded: Events beyond the limit are counted and dropped.
 */
import type { Logger } from "#base";
import type { EventRecorder, RecordedEvent } from "#client";

const MAX_WAITING = 50_000;
const WHILE_BUSY = 1;
const WHILE_IDLE = 64;

export interface EventBacklogOptions {
  readonly recorder: EventRecorder;
  readonly isBusy: () => boolean;
  /** Waits between two Events while the scheduler is busy. */
  readonly pause: () => Promise<void>;
  readonly log: Logger;
}

export class EventBacklog implements EventRecorder {
  readonly #options: EventBacklogOptions;
  #waiting: RecordedEvent[] = [];
  #from = 0;
  #dropped = 0;
  #writing: Promise<void> | undefined;

  constructor(options: EventBacklogOptions) {
    this.#options = options;
  }

  record(event: RecordedEvent): void {
    if (this.#waiting.length - this.#from >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(event);
    this.#writing ??= this.#write();
  }

  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Never rejects: the recorder logs what it cannot write. */
  async #write(): Promise<void> {
    const { recorder, isBusy, pause, log } = this.#options;
    while (this.#from < this.#waiting.length) {
      const count = isBusy() ? WHILE_BUSY : WHILE_IDLE;
      const next = this.#waiting.slice(this.#from, this.#from + count);
      for (const event of next) recorder.record(event);
      this.#from += next.length;
      if (this.#from > WHILE_IDLE * WHILE_IDLE) {
        this.#waiting = this.#waiting.slice(this.#from);
        this.#from = 0;
      }
      await recorder.flush();
      if (isBusy()) await pause();
    }
    this.#waiting = [];
    this.#from = 0;
    if (this.#dropped > 0) log.warn("events about pods were dropped", { count: this.#dropped });
    this.#dropped = 0;
    this.#writing = undefined;
  }
}
