/** Complete answers that nobody takes: much of them is not kept for ever. */
import type { Incoming } from "./inflow.ts";
import type { Sender } from "./sender.ts";
import type { Http2Stream } from "./stream.ts";

/** What may wait in answers that nobody takes. */
const MAX_UNTAKEN_BYTES = 32 * 1024 * 1024;

/** Looks at a connection now and then, and remembers what it has seen. */
export class UntakenAnswers {
  readonly #sender: Sender;
  #sentBefore = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Those that have not moved since the last look because their callers have no room: not those that wait for their turn on a slow network. */
  look(streams: readonly Incoming[]): readonly Http2Stream[] {
    const { sentBytes } = this.#sender;
    const isStuck = sentBytes === this.#sentBefore;
    this.#sentBefore = sentBytes;
    const untaken: Http2Stream[] = [];
    let bytes = 0;
    for (const { stream } of streams) {
      const { isEnded, waiting, waitedBefore, window } = stream;
      stream.waitedBefore = waiting;
      if (!isEnded || waiting === 0 || waiting !== waitedBefore || (!isStuck && window > 0)) continue;
      untaken.push(stream);
      bytes += waiting;
    }
    return bytes > MAX_UNTAKEN_BYTES ? untaken : [];
  }
}
