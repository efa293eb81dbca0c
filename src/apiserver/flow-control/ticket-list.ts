/**
 * Tickets in the order in which they came. One is in one list at most.
 *
 * 1. They hold on to each other, and let go when they leave. A Set would do the same for its owner, but when it has seen many come and go it moves to new
 *    memory, and the old one goes on holding those who were there: until the whole heap is collected, if it is old enough by then.
 */
import type { Ticket } from "./ticket.ts";

export class TicketList {
  #first: Ticket | undefined;
  #last: Ticket | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Ticket | undefined {
    return this.#first;
  }

  has(ticket: Ticket): boolean {
    return ticket.list === this;
  }

  add(ticket: Ticket): void {
    ticket.list = this;
    ticket.before = this.#last;
    if (this.#last === undefined) this.#first = ticket;
    else this.#last.after = ticket;
    this.#last = ticket;
    this.#size++;
  }

  delete(ticket: Ticket): boolean {
    if (ticket.list !== this) return false;
    const { before, after } = ticket;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    ticket.list = ticket.before = ticket.after = undefined;
    this.#size--;
    return true;
  }

  *[Symbol.iterator](): Iterator<Ticket> {
    for (let ticket = this.#first; ticket !== undefined; ticket = ticket.after) yield ticket;
  }
}
