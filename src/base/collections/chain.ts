/**
 * Members in the order in which they came, each of which leaves when it likes, at the same small cost. One is in one chain at most.
 *
 * 1. They hold on to each other, and let go when they leave. A Set would do the same for its owner, but when it has seen many come and go it moves to new
 *    memory, and the old one goes on holding those who were there: until the whole heap is collected, if it is old enough by then.
 */
export class Chain<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first;
  }

  has(member: T): boolean {
    return member.chain === this;
  }

  add(member: T): void {
    member.chain = this;
    member.before = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.after = member;
    this.#last = member;
    this.#size++;
  }

  /** Whether it was here. */
  delete(member: T): boolean {
    if (member.chain !== this) return false;
    const { before, after } = member;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    member.chain = member.before = member.after = undefined;
    this.#size--;
    return true;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let member = this.#first; member !== undefined; member = member.after) yield member;
  }
}

/** Where a member is, and beside whom: for its chain alone. */
export interface Linked<T extends Linked<T>> {
  chain: Chain<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}

/** A member for a value that has no place for this. */
export class Link<V> implements Linked<Link<V>> {
  readonly value: V;
  chain: Chain<Link<V>> | undefined;
  before: Link<V> | undefined;
  after: Link<V> | undefined;

  constructor(value: V) {
    this.value = value;
  }
}
