/**
 * Keeps the latest records within a number of bytes.
 *
 * 1. Recording never waits and never fails: the oldest goes when there is no room.
 * 2. Reads have a ring of their own, so that many of them do not push out what changed something. Its slots are used again and again.
 * 3. Of a request, facts are kept; it becomes a record when somebody reads it.
 */
import { randomUUID } from "node:crypto";
import {
  type DeliveryRecord,
  type FlowRecord,
  isRead,
  type RequestRecord,
  type Unnumbered,
  type WorkRecord,
} from "./record.ts";
import { RequestFacts, recordOf } from "./request-facts.ts";
import { Ring } from "./ring.ts";

export interface RecorderOptions {
  readonly limitBytes?: number;
  /** How many requests that only read are kept. */
  readonly reads?: number;
}

const DEFAULT_LIMIT_BYTES = 24 * 1024 * 1024;
/** Few: what is kept of them outlives the young generation, and is copied by every collection until then. */
const DEFAULT_READS = 512;
/** Works that were told of with a request: those seen lately are not recorded twice. */
const KNOWN_WORKS = 4096;

type Kept = FlowRecord | RequestFacts;

export class Recorder {
  /** Numbers of records mean something together with it: another recorder begins anew. */
  readonly id = randomUUID().slice(0, 8);
  readonly #changes: Ring<Kept>;
  readonly #reads: RequestFacts[] = [];
  readonly #maxReads: number;
  #nextRead = 0;
  readonly #listeners = new Set<(record: FlowRecord) => void>();
  readonly #works = new Set<string>();
  #seq = 0;

  constructor({ limitBytes = DEFAULT_LIMIT_BYTES, reads = DEFAULT_READS }: RecorderOptions = {}) {
    this.#changes = new Ring(limitBytes);
    this.#maxReads = reads;
  }

  /** Facts to fill in, then to be handed to `recorded`: no others may be. */
  facts(verb: string): RequestFacts {
    if (!isRead(verb) || this.#reads.length < this.#maxReads) return new RequestFacts();
    return this.#reads[this.#nextRead] ?? new RequestFacts();
  }

  recorded(facts: RequestFacts): void {
    facts.seq = ++this.#seq;
    if (!isRead(facts.verb)) this.#changes.push(facts, 240 + facts.name.length);
    else {
      this.#reads[this.#nextRead] = facts;
      this.#nextRead = (this.#nextRead + 1) % this.#maxReads;
    }
    if (this.#listeners.size > 0) this.#tell(recordOf(facts));
  }

  request(record: Unnumbered<RequestRecord>): void {
    const numbered = { seq: ++this.#seq, ...record };
    this.#changes.push(numbered, 240 + record.name.length + (record.reason?.length ?? 0));
    this.#tell(numbered);
  }

  delivery(record: Unnumbered<DeliveryRecord>): void {
    const numbered = { seq: ++this.#seq, ...record };
    this.#changes.push(numbered, 120 + record.name.length + 8 * record.to.length);
    this.#tell(numbered);
  }

  /** A work that was told of before is not told of again. */
  work(record: Unnumbered<WorkRecord>): void {
    if (this.#works.has(record.id)) return;
    const numbered = { seq: ++this.#seq, ...record };
    this.#works.add(record.id);
    if (this.#works.size > KNOWN_WORKS) {
      for (const oldest of this.#works) {
        this.#works.delete(oldest);
        break;
      }
    }
    this.#changes.push(numbered, 200 + record.decided.length + 8 * record.woken.length + 80 * record.calls.length);
    this.#tell(numbered);
  }

  /** Those of an earlier recorder, in their order; they get numbers of this one. */
  restore(records: Iterable<FlowRecord>): void {
    for (const { seq: _, ...record } of records) {
      if (record.type === "request") this.request(record);
      else if (record.type === "work") this.work(record);
      else this.delivery(record);
    }
  }

  knowsWork(id: string): boolean {
    return this.#works.has(id);
  }

  /** In the order in which they were recorded. */
  records(): FlowRecord[] {
    return [...this.#changes, ...this.#reads]
      .map((kept) => (kept instanceof RequestFacts ? recordOf(kept) : kept))
      .sort((a, b) => a.seq - b.seq);
  }

  /** What has been pushed out so far: whatever it was, nothing can be said of it any more. */
  get dropped(): number {
    return this.#changes.dropped;
  }

  /** The number of the latest record. */
  get seq(): number {
    return this.#seq;
  }

  /** Returns how to end it. */
  follow(listener: (record: FlowRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(record: FlowRecord): void {
    for (const listener of this.#listeners) listener(record);
  }
}
