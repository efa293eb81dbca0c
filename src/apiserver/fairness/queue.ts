/** One of a level's queues: its requests, and how much of the level's work they have had. */
import { Chain } from "#base";
import type { Ticket } from "./ticket.ts";

export class Queue {
  readonly index: number;
  readonly waiting = new Chain<Ticket>();
  /** Of the waiting requests, in seat-milliseconds. */
  waitingWork = 0;
  waitingSeats = 0;
  readonly executing = new Chain<Ticket>();
  seatsInUse = 0;
  /** For the QueueSet: a request of it waits or has a seat. */
  isBusy = false;
  /** The reading of the level's progress meter at which its next request would start. */
  nextDispatchR = 0;

  constructor(index: number) {
    this.index = index;
  }

  get oldest(): Ticket | undefined {
    return this.waiting.first;
  }

  get isIdle(): boolean {
    return this.waiting.size === 0 && this.executing.size === 0;
  }

  push(ticket: Ticket): void {
    this.waiting.add(ticket);
    this.waitingWork += ticket.totalWork;
    this.waitingSeats += ticket.width;
  }

  remove(ticket: Ticket): boolean {
    if (!this.waiting.delete(ticket)) return false;
    this.waitingWork = this.waiting.size === 0 ? 0 : this.waitingWork - ticket.totalWork;
    this.waitingSeats -= ticket.width;
    return true;
  }

  /** A queue gets no credit for time in which it was empty: virtual dispatch never comes before arrival. */
  bound(): void {
    const oldest = this.oldest;
    if (oldest !== undefined && this.nextDispatchR < oldest.arrivalR) this.nextDispatchR = oldest.arrivalR;
  }
}
