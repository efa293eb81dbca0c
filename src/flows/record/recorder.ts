/**
 * Keeps the latest records within a number of bytes.
 *
 * 1. Recording never waits and never fails: the oldest records are dropped.
 * 2. Reads are kept separately, so that they do not displace writes.
 * 3. Requests are kept as facts and become records when they are read. Half of the room is for requests.
 */
import { randomUUID } from "node:crypto";
import { LruMap } from "#base";
import {
  type DeliveryRecord,
  type FlowRecord,
  isRead,
  type RequestRecord,
  type Unnumbered,
  type WorkRecord,
} from "./record.ts";
import { RequestFacts, recordOf } from "./request-facts.ts";
import { RequestLog } from "./request-log.ts";
import { Ring } from "./ring.ts";

export interface RecorderOptions {
  readonly limitBytes?: number;
  /** Additional room for requests that only read. */
  readonly readBytes?: number;
}

const DEFAULT_LIMIT_BYTES = 24 * 1024 * 1024;
const DEFAULT_READ_BYTES = 512 * 1024;
/** Each request reports its work: recent works are not recorded twice. By the user and the user's name for it. */
const KNOWN_WORKS = 4096;

interface KnownWork {
  readonly id: string;
  readonly claimed: boolean;
}

export class Recorder {
  /** Sequence numbers are valid for this id only. */
  readonly id = randomUUID().slice(0, 8);
  /** Stops recording, to measure what recording costs. */
  paused = false;
  readonly #changes: Ring<FlowRecord>;
  readonly #writes: RequestLog;
  readonly #reads: RequestLog;
  /** Reads that came as records. */
  readonly #readRecords: Ring<FlowRecord>;
  readonly #facts = new RequestFacts();
  readonly #listeners = new Set<(record: FlowRecord) => void>();
  readonly #works = new LruMap<string, KnownWork>(KNOWN_WORKS);
  #seq = 0;
  #workCount = 0;

  constructor({ limitBytes = DEFAULT_LIMIT_BYTES, readBytes = DEFAULT_READ_BYTES }: RecorderOptions = {}) {
    this.#changes = new Ring(limitBytes / 2);
    this.#writes = new RequestLog(limitBytes / 2);
    this.#reads = new RequestLog(readBytes);
    this.#readRecords = new Ring(readBytes);
  }

  /** Always the same object: fill in every field synchronously and pass it to `recorded`. */
  facts(): RequestFacts {
    return this.#facts;
  }

  recorded(facts: RequestFacts): void {
    facts.seq = ++this.#seq;
    (isRead(facts.about.verb) ? this.#reads : this.#writes).push(facts);
    if (this.#listeners.size > 0) this.#notify(recordOf(facts));
  }

  request(record: Unnumbered<RequestRecord>): void {
    const numbered = { seq: ++this.#seq, ...record };
    const ring = isRead(record.verb) ? this.#readRecords : this.#changes;
    ring.push(numbered, 240 + record.name.length + (record.reason?.length ?? 0));
    this.#notify(numbered);
  }

  delivery(record: Unnumbered<DeliveryRecord>): void {
    const numbered = { seq: ++this.#seq, ...record };
    this.#changes.push(numbered, 120 + record.name.length + 8 * record.to.length);
    this.#notify(numbered);
  }

  /** The recorded id of what this user calls `name`, unless it is unknown or only a claim. */
  workOf(user: string, name: string): string | undefined {
    const known = this.#works.get(`${user} ${name}`);
    return known === undefined || known.claimed ? undefined : known.id;
  }

  /**
   * Records what this user calls `name`, and returns its id. A known work is not recorded again, but a vouched one
   * takes the place of a claim.
   */
  work(user: string, name: string, record: Omit<Unnumbered<WorkRecord>, "id">): string {
    const key = `${user} ${name}`;
    const known = this.#works.get(key);
    if (known !== undefined && (!known.claimed || record.claimed)) return known.id;
    const id = known?.id ?? `${this.id}/${++this.#workCount}`;
    this.#works.set(key, { id, claimed: record.claimed });
    this.#addWork({ id, ...record });
    return id;
  }

  #addWork(record: Unnumbered<WorkRecord>): void {
    const numbered = { seq: ++this.#seq, ...record };
    const { decided, woken, calls, read = [] } = record;
    const bytes = 200 + decided.length + 8 * woken.length + 80 * calls.length;
    this.#changes.push(
      numbered,
      read.reduce((sum, words) => sum + 24 + words.length, bytes),
    );
    this.#notify(numbered);
  }

  /** Adds the records of an earlier recorder, in their order, with new sequence numbers. */
  restore(records: Iterable<FlowRecord>): void {
    for (const { seq: _, ...record } of records) {
      if (record.type === "request") this.request(record);
      else if (record.type === "work") this.#addWork(record);
      else this.delivery(record);
    }
  }

  /** In the order in which they were recorded. */
  records(): FlowRecord[] {
    const requests = [...this.#writes, ...this.#reads].map(recordOf);
    return [...this.#changes, ...this.#readRecords, ...requests].sort((a, b) => a.seq - b.seq);
  }

  /** How many records have been dropped so far, except reads. */
  get dropped(): number {
    return this.#changes.dropped + this.#writes.dropped;
  }

  /** The sequence number of the latest record. */
  get seq(): number {
    return this.#seq;
  }

  /** Calls the listener with each record; returns a function that removes it. */
  follow(listener: (record: FlowRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(record: FlowRecord): void {
    for (const listener of this.#listeners) listener(record);
  }
}
