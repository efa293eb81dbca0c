/**
 * The flow of an object while it happens: decides of each new record whether it belongs to the flow.
 *
 * 1. It yields the records that `trace` would return for all records so far, each once, as soon as that is known.
 * 2. A cause may turn out to belong to the flow only later: it is yielded then, after later records.
 */
import { type FlowRecord, isRead, type RequestRecord, sameObject, type WorkRecord } from "../record/record.ts";
import { causesOf, isWokenByTime, type Question, trace } from "./trace.ts";

/** Records that may still turn out to be causes. */
const MAX_KEPT = 20_000;

export class LiveTrace {
  readonly #question: Question;
  readonly #depth: number;
  /** The depth that is left, in works, for what follows from them. */
  readonly #revisions = new Map<number, number>();
  readonly #works = new Map<string, number>();
  /** Records beyond the requested depth, which do not restart the count when they lead back to the object. */
  readonly #deepRevisions = new Set<number>();
  readonly #deepWorks = new Set<string>();
  readonly #yielded = new Set<number>();
  #kept: FlowRecord[] = [];

  constructor(question: Question) {
    this.#question = question;
    this.#depth = question.depth ?? Number.POSITIVE_INFINITY;
  }

  /** The records to show now. */
  take(record: FlowRecord): readonly FlowRecord[] {
    if (this.#question.object === undefined) return this.#isWanted(record) ? [record] : [];
    if (this.#kept.push(record) > MAX_KEPT) this.#kept = this.#kept.slice(MAX_KEPT / 2);
    const found = this.#found(record).filter((each) => this.#isWanted(each) && !this.#yielded.has(each.seq));
    for (const { seq } of found) this.#yielded.add(seq);
    return found;
  }

  #isWanted(record: FlowRecord): boolean {
    const { since = Number.NEGATIVE_INFINITY, reads = false } = this.#question;
    if (record.type !== "request") return true;
    return record.at >= since && (reads || !isRead(record.verb));
  }

  #found(record: FlowRecord): readonly FlowRecord[] {
    switch (record.type) {
      case "request":
        return this.#request(record);
      case "work":
        return this.#work(record);
      case "delivery":
        return this.#revisions.has(record.revision) ? [record] : [];
    }
  }

  #request(record: RequestRecord): readonly FlowRecord[] {
    const { object } = this.#question;
    if (this.#deepWorks.has(record.cause ?? "")) {
      if (record.written !== undefined) this.#deepRevisions.add(record.written.revision);
      return [];
    }
    const isOwn = object !== undefined && sameObject(record, object) && !this.#works.has(record.cause ?? "");
    const left = isOwn ? this.#depth : this.#works.get(record.cause ?? "");
    if (left === undefined) return [];
    if (record.written !== undefined) this.#revisions.set(record.written.revision, left);
    if (!isOwn || record.cause === undefined) return [record];
    return trace(this.#kept, { ...this.#question, depth: 0 }).records;
  }

  #work(record: WorkRecord): readonly FlowRecord[] {
    const { object, since = Number.NEGATIVE_INFINITY } = this.#question;
    if (object !== undefined && this.#depth > 0 && record.at >= since && isWokenByTime(record, object)) {
      this.#works.set(record.id, this.#depth - 1);
      return [record];
    }
    const left = Math.max(0, ...causesOf(record).map((revision) => this.#revisions.get(revision) ?? 0));
    if (left === 0) {
      const isDeep = (revision: number) => this.#deepRevisions.has(revision) || this.#revisions.has(revision);
      if (causesOf(record).some(isDeep)) this.#deepWorks.add(record.id);
      return [];
    }
    this.#works.set(record.id, left - 1);
    return [record];
  }
}
