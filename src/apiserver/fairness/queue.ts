/** One of a level's queues: those who wait in it, in order, and how much of the level's work has gone to it. */
import { Chain } from "#base";
import type { Ticket } from "./ticket.ts";

export class Queue {
  readonly index: number;
  readonly waiting = new Chain<Ticket>();
  /** Of those who wait, in seat-milliseconds. */
  waitingWork = 0;
  waitingSeats = 0;
  readonly executing = new Chain<Ticket>();
  seatsInUse = 0;
  /** For its level: somebody is in it, or still has a seat. */
  isBusy = false;
  /** Where the level's progress meter stands when its next request would start, if all queues were served at the same time. */
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

  /** No queue saves up for later what it could not use: dispatch never comes before arrival. */
  bound(): void {
    const oldest = this.oldest;
    if (oldest !== undefined && this.nextDispatchR < oldest.arrivalR) this.nextDispatchR = oldest.arrivalR;
  }
}
