/**
 * Which revision the store had at which time, as this server saw it: stores keep no times.
 *
 * 1. Of the marks within STEP_MS, only the first and the last are kept: a time between them maps to the first.
 * 2. Marks older than the window are dropped; the newest always stays.
 */

const STEP_MS = 10;

export interface Mark {
  readonly revision: number;
  readonly atMs: number;
}

export class Timeline {
  readonly #windowMs: number;
  #marks: Mark[] = [];
  #first = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The store is at this revision now. */
  note(revision: number, atMs: number): void {
    const last = this.newest;
    if (last !== undefined && revision <= last.revision) return;
    const before = this.#marks.at(-2);
    // A clock that is set back must not put later revisions before earlier ones.
    const at = Math.max(atMs, last?.atMs ?? atMs);
    if (before !== undefined && at - before.atMs < STEP_MS) this.#marks.pop();
    this.#marks.push({ revision, atMs: at });
    while (this.#isPast(this.#marks[this.#first + 1], atMs)) this.#first += 1;
    if (this.#first > 1024 && this.#first * 2 > this.#marks.length) {
      this.#marks = this.#marks.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The first mark that is known. */
  get oldest(): Mark | undefined {
    return this.#marks[this.#first];
  }

  get newest(): Mark | undefined {
    return this.#marks.at(-1);
  }

  /** The revision at a time. Undefined: not known any more. */
  at(atMs: number): Mark | undefined {
    return this.#before((mark) => mark.atMs <= atMs);
  }

  /** When the store reached a revision, or when this server first saw it there. */
  of(revision: number): Mark | undefined {
    const earlier = this.#before((mark) => mark.revision < revision);
    const index = earlier === undefined ? this.#first : this.#marks.lastIndexOf(earlier) + 1;
    return this.#marks[index];
  }

  /** The last mark for which `holds` is true: it is true up to some mark and false after it. */
  #before(holds: (mark: Mark) => boolean): Mark | undefined {
    let low = this.#first;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const mark = this.#marks[middle];
      if (mark !== undefined && holds(mark)) low = middle + 1;
      else high = middle;
    }
    return low === this.#first ? undefined : this.#marks[low - 1];
  }

  #isPast(mark: Mark | undefined, nowMs: number): boolean {
    return mark !== undefined && mark.atMs < nowMs - this.#windowMs;
  }
}
