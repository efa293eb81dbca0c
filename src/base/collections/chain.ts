/**
 * A doubly linked list in order of insertion with O(1) removal. A member is in at most one chain.
 *
 * 1. Links are cleared when a member leaves. A Set that sees many members come and go reallocates its table, and the
 *    old table keeps members alive until a major garbage collection.
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

  /** Whether it was in this chain. */
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

/** The links of a member. Only its chain may change them. */
export interface Linked<T extends Linked<T>> {
  chain: Chain<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}

/** A member that wraps a value without links of its own. */
export class Link<V> implements Linked<Link<V>> {
  readonly value: V;
  chain: Chain<Link<V>> | undefined;
  before: Link<V> | undefined;
  after: Link<V> | undefined;

  constructor(value: V) {
    this.value = value;
  }
}
