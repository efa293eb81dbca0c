/**
 * The recorder of a serving thread besides the first: it passes everything on to the first one's, a batch at a time.
 *
 * 1. Ids of works are valid everywhere: each recorder's own name is in them.
 * 2. Of reads, only so many are passed on as the first recorder has room for: it keeps no more than the last few.
 */
import type { Clock, Timer } from "#base";
import { type FlowRecord, isRead, Recorder } from "#flows";

const GATHER_MS = 50;
const MAX_READS = 50;
/** What is recorded here is only on its way. */
const OWN_BYTES = 64 * 1024;

type Facts = Parameters<Recorder["recorded"]>[0];

export class PassingRecorder extends Recorder {
  readonly #clock: Clock;
  readonly #pass: (records: readonly FlowRecord[]) => void;
  #records: FlowRecord[] = [];
  #reads = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, pass: (records: readonly FlowRecord[]) => void) {
    super({ limitBytes: OWN_BYTES, readBytes: OWN_BYTES });
    this.#clock = clock;
    this.#pass = pass;
    this.follow((record) => this.#add(record));
  }

  override recorded(facts: Facts): void {
    if (isRead(facts.about.verb) && ++this.#reads > MAX_READS) {
      this.#timer ??= this.#clock.timer(GATHER_MS, () => this.flush());
      return;
    }
    super.recorded(facts);
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#reads = 0;
    if (this.#records.length > 0) this.#pass(this.#records.splice(0));
  }

  #add(record: FlowRecord): void {
    this.#records.push(record);
    this.#timer ??= this.#clock.timer(GATHER_MS, () => this.flush());
  }
}
