/**
 * Answers that the client does not read: large ones are not kept. Those that are not complete count, too: the initial
 * state of a watch is as large as what it shows.
 */
import type { Incoming } from "./inflow.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";

/** What may wait in such answers. */
const MAX_STALLED_BYTES = 32 * 1024 * 1024;

/** Compares a connection with its state at the last check. */
export class StalledAnswers {
  readonly #sender: Sender;
  #sentBefore = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Answers without progress since the last check because the client grants no window; not those that wait for a slow
   * network.
   */
  find(streams: readonly Incoming[]): readonly Http2Stream[] {
    const { sentBytes } = this.#sender;
    const isStuck = sentBytes === this.#sentBefore;
    this.#sentBefore = sentBytes;
    const stalled: Http2Stream[] = [];
    let bytes = 0;
    for (const { stream } of streams) {
      const { sent, sentBefore, waiting, window } = stream;
      stream.sentBefore = sent;
      if (waiting === 0 || sent !== sentBefore || (!isStuck && window > 0)) continue;
      stalled.push(stream);
      bytes += waiting;
    }
    return bytes > MAX_STALLED_BYTES ? stalled : [];
  }
}
