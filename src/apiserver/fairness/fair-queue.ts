/**
 * The requests of one priority level: those that are executed, those that wait, and who comes next.
 *
 *     enter ──► a seat and a turn are free ──► execute ──► finish ──► seats are free again, some of them a little later
 *         └──► wait in the emptiest queue of the flow's hand ──► dispatch: the queue that has had the least ──► execute
 *         └──► refused: queue full · no queues · waited too long
 *
 * Fair queuing, as for packets: a progress meter R says how many seat-milliseconds each busy queue has had so far if all were served alike. Each queue
 * knows at which reading its next request would start, and the one goes first that would finish first.
 *
 * 1. Seats in use never exceed the limit, unless a single request is wider than that: it then is alone.
 * 2. How long a request takes is guessed when it starts, and put right when it ends.
 * 3. R goes by the seats that really are in use. That is the limit when all are, and less when turns, not seats, are what is waited for.
 * 4. With no queues, what finds no free seats is refused; with no limit, nothing waits.
 */
import { Chain, type Clock, type Timer } from "#base";
import type { DemandStats } from "./demand.ts";
import type { LevelTimes } from "./level-times.ts";
import { type LastDispatch, LinedQueues } from "./lined-queues.ts";
import type { Rejection } from "./metrics.ts";
import { Queue } from "./queue.ts";
import { type Entry, type Flow, Ticket } from "./ticket.ts";
import type { Turns, TurnTaker } from "./turns.ts";

export type Queuing =
  | { readonly type: "exempt" }
  | { readonly type: "reject" }
  | { readonly type: "queue"; readonly queues: number; readonly handSize: number; readonly lengthLimit: number };

export interface FairQueueOptions {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly times: LevelTimes;
  /** Nobody is here any more. */
  readonly onIdle?: () => void;
}

export interface Totals {
  waiting: number;
  executing: number;
  seatsInUse: number;
  seatsWaiting: number;
  dispatched: number;
  rejected: number;
  timedOut: number;
  cancelled: number;
}

export class FairQueue implements TurnTaker {
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #times: LevelTimes;
  readonly #onIdle: (() => void) | undefined;
  #queuing: Queuing = { type: "reject" };
  #limit = 0;
  readonly #queues = new Map<number, Queue>();
  /** How many have somebody in them. */
  #busy = 0;
  /** With somebody who waits. */
  readonly #lined = new LinedQueues();
  /** Executed, and not from a queue. */
  readonly #unqueued = new Chain<Ticket>();
  /** Of those that keep their seats for a little longer. */
  readonly #endings = new Set<Timer>();
  #r = 0;
  #enqueued = 0;
  #expiry: { readonly timer: Timer; readonly atMs: number } | undefined;
  readonly totals: Totals = {
    waiting: 0,
    executing: 0,
    seatsInUse: 0,
    seatsWaiting: 0,
    dispatched: 0,
    rejected: 0,
    timedOut: 0,
    cancelled: 0,
  };

  constructor({ clock, turns, times, onIdle }: FairQueueOptions) {
    this.#clock = clock;
    this.#turns = turns;
    this.#times = times;
    this.#onIdle = onIdle;
  }

  get limit(): number {
    return this.#limit;
  }

  get isIdle(): boolean {
    return this.totals.waiting === 0 && this.totals.executing === 0;
  }

  get r(): number {
    return this.#r;
  }

  get lastDispatch(): LastDispatch | undefined {
    return this.#lined.lastDispatch;
  }

  /** In the order of their numbers. */
  get queues(): readonly Queue[] {
    return [...this.#queues.values()].sort((a, b) => a.index - b.index);
  }

  get unqueued(): Iterable<Ticket> {
    return this.#unqueued;
  }

  /** Queues that are too many go as they get empty. */
  configure(queuing: Queuing, limit: number, denominator: number): void {
    this.#sync();
    this.#queuing = queuing;
    this.#limit = limit;
    for (const queue of this.#queues.values()) this.#dropIfSpare(queue);
    const capacity = queuing.type === "queue" ? queuing.lengthLimit * queuing.queues : 1;
    this.#times.setWholes(Math.max(1, capacity), denominator);
    this.#turns.run();
  }

  /** `hand`: the queues that its flow may use. Who waits hears by `decide`. */
  enter(ticket: Ticket, hand: readonly number[]): Entry {
    const now = this.#sync(ticket.arrivedMs);
    ticket.arrivalR = this.#r;
    const { type } = this.#queuing;
    if (type !== "queue") {
      if (type === "reject" && !this.#accommodates(ticket.width)) return this.#reject(ticket, "concurrency-limit");
      this.#execute(undefined, ticket, now);
      return "execute";
    }
    const queue = this.#queueOf(ticket, hand);
    const alone = this.#turns.mayExceed(ticket.flow, ticket.distinguisher, now);
    if (this.#goesOn(alone, ticket.width)) {
      this.#execute(queue, ticket, now);
      return "execute";
    }
    const free = this.#turns.hasRoom && this.totals.seatsInUse < this.#limit;
    if (!free && queue.waiting.size >= this.#queuing.lengthLimit) return this.#reject(ticket, "queue-full");
    this.#enqueue(queue, ticket, now);
    this.#turns.run();
    return queue.waiting.has(ticket) ? "wait" : "execute";
  }

  /** Whether one of a single seat that comes now would be executed at once. If so, `passed` or `hold` follows before anybody else can come. */
  letsPass(flow: Flow, distinguisher: string, now: number): boolean {
    const { type } = this.#queuing;
    if (type === "queue") return this.#goesOn(this.#turns.mayExceed(flow, distinguisher, now), 1);
    return type === "reject" && this.#accommodates(1);
  }

  /** As `passed`, if there is nobody else: then no queue remembers it. False: there is. */
  passedAlone(startedMs: number, now: number): boolean {
    const { totals } = this;
    if (totals.executing > 0 || totals.waiting > 0 || totals.seatsInUse > 0) return false;
    const passedMs = this.#times.passed(startedMs, now);
    totals.dispatched++;
    if (this.#queuing.type === "queue") {
      this.#enqueued++;
      this.#turns.take(1);
      this.#r += passedMs;
    }
    this.#onIdle?.();
    return true;
  }

  /** It has been executed in the call in which it came: nobody saw it here, but its time counts. */
  passed(hand: readonly number[], startedMs: number, now: number): void {
    this.#sync(startedMs);
    const { totals } = this;
    const queue = this.#queuing.type === "queue" ? this.#choose(hand) : undefined;
    if (queue !== undefined) {
      if (queue.isIdle) queue.nextDispatchR = this.#r;
      queue.nextDispatchR += now - startedMs;
      this.#occupy(queue);
      this.#turns.take(1);
    }
    totals.dispatched++;
    totals.executing++;
    totals.seatsInUse++;
    this.#times.reach(totals.seatsInUse + totals.seatsWaiting);
    this.#sync(now);
    totals.executing--;
    totals.seatsInUse--;
    if (queue !== undefined) this.#vacateIfIdle(queue);
    if (totals.waiting === 0 && totals.executing === 0) this.#onIdle?.();
  }

  /** It takes longer: from its start on it is here, like all others. */
  hold(ticket: Ticket, hand: readonly number[]): void {
    const now = this.#sync(ticket.arrivedMs);
    ticket.arrivalR = this.#r;
    this.#execute(this.#queuing.type === "queue" ? this.#queueOf(ticket, hand) : undefined, ticket, now);
  }

  /** It has been executed. */
  finish(ticket: Ticket, now = this.#clock.monotonic()): void {
    this.#sync(now);
    const { queue, work, flow } = ticket;
    this.totals.executing--;
    flow.samples.executing.dec();
    if (queue === undefined) {
      this.#unqueued.delete(ticket);
    } else {
      queue.executing.delete(ticket);
      queue.nextDispatchR -= work.seats * (Ticket.GUESS_MS - (now - ticket.startedMs));
      queue.bound();
    }
    if (work.finalMs <= 0 || work.finalSeats === 0) {
      this.#release(ticket);
      return;
    }
    const timer = this.#clock.timer(work.finalMs, () => {
      this.#endings.delete(timer);
      this.#sync();
      this.#release(ticket);
    });
    this.#endings.add(timer);
  }

  /** Its caller has gone: it waits no longer. */
  cancel(ticket: Ticket): void {
    this.#sync();
    if (this.#unline(ticket)) this.#refuseWaiting(ticket, "cancelled");
  }

  /** Starts the request that is next in line, if there are seats for it. */
  dispatch(): number {
    const now = this.#sync();
    const queue = this.#lined.next(this.#r);
    const ticket = queue?.oldest;
    if (queue === undefined || ticket === undefined) return 0;
    const seats = ticket.width;
    if (!this.#accommodates(seats)) {
      ticket.flow.samples.notAccommodated();
      return 0;
    }
    this.#unline(ticket);
    this.#begin(queue, ticket, now);
    queue.bound();
    ticket.decide?.(true);
    return seats;
  }

  /** What is counted by time, up to now. */
  observe(): void {
    this.#sync();
    this.#times.tell();
  }

  /** A period of demand ends, of which these are the statistics. */
  review(before: DemandStats): DemandStats {
    this.#sync();
    return this.#times.nextPeriod(before, this.totals.seatsInUse + this.totals.seatsWaiting);
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const timer of this.#endings) timer.cancel();
    this.#endings.clear();
    for (const queue of [...this.#lined]) for (const ticket of [...queue.waiting]) this.cancel(ticket);
  }

  #queueOf(ticket: Ticket, hand: readonly number[]): Queue {
    const queue = this.#choose(hand);
    ticket.queue = queue;
    if (queue.isIdle) queue.nextDispatchR = this.#r;
    return queue;
  }

  /** The queue with the least work waiting; flows whose hands overlap start to look at different ones. */
  #choose(hand: readonly number[]): Queue {
    const offset = this.#enqueued++;
    let best: Queue | undefined;
    for (let i = 0; i < hand.length; i++) {
      const queue = this.#queue(hand[(offset + i) % hand.length] ?? 0);
      if (best === undefined || queue.waitingWork < best.waitingWork) best = queue;
      if (best.waitingWork === 0) return best;
    }
    return best ?? this.#queue(0);
  }

  #queue(index: number): Queue {
    const known = this.#queues.get(index);
    if (known !== undefined) return known;
    const queue = new Queue(index);
    this.#queues.set(index, queue);
    return queue;
  }

  #enqueue(queue: Queue, ticket: Ticket, now: number): void {
    queue.push(ticket);
    queue.bound();
    this.#occupy(queue);
    this.#lined.add(queue);
    const { totals } = this;
    totals.waiting++;
    totals.seatsWaiting += ticket.width;
    const { queued, queuedSeats, queueLength } = ticket.flow.samples;
    queued.inc();
    queuedSeats.inc(ticket.width);
    queueLength.observe(queue.waiting.size);
    this.#times.reach(totals.seatsInUse + totals.seatsWaiting);
    this.#expireAt(ticket.deadlineMs, now);
    this.#turns.join(this);
  }

  /** Takes it out of its queue; false if it is not in one any more. */
  #unline(ticket: Ticket): boolean {
    const { queue } = ticket;
    if (queue === undefined || !queue.remove(ticket)) return false;
    this.#lined.delete(queue);
    if (queue.waiting.size > 0) this.#lined.add(queue);
    const { totals } = this;
    totals.waiting--;
    totals.seatsWaiting -= ticket.width;
    ticket.flow.samples.queued.dec();
    ticket.flow.samples.queuedSeats.dec(ticket.width);
    if (totals.waiting === 0) {
      this.#expiry?.timer.cancel();
      this.#expiry = undefined;
      this.#turns.leave(this);
    }
    return true;
  }

  /** Without having waited. */
  #execute(queue: Queue | undefined, ticket: Ticket, now: number): void {
    if (queue === undefined) {
      this.#unqueued.add(ticket);
      this.#start(ticket, now);
      return;
    }
    this.#turns.take(ticket.width);
    this.#begin(queue, ticket, now);
  }

  #begin(queue: Queue, ticket: Ticket, now: number): void {
    const { work } = ticket;
    // What is too wide for the level stays the same work in another shape: narrower, for longer.
    if (work.finalSeats > this.#limit && this.#limit > 0)
      ticket.work = { ...work, finalSeats: this.#limit, finalMs: (work.finalSeats * work.finalMs) / this.#limit };
    queue.executing.add(ticket);
    queue.seatsInUse += ticket.width;
    queue.nextDispatchR += ticket.totalWork;
    this.#occupy(queue);
    this.#start(ticket, now);
  }

  #start(ticket: Ticket, now: number): void {
    const { totals } = this;
    const { width } = ticket;
    ticket.startedMs = now;
    totals.executing++;
    totals.dispatched++;
    totals.seatsInUse += width;
    const { samples } = ticket.flow;
    samples.executing.inc();
    samples.executingSeats.inc(width);
    this.#times.reach(totals.seatsInUse + totals.seatsWaiting);
  }

  #release(ticket: Ticket): void {
    const { queue, width, flow } = ticket;
    this.totals.seatsInUse -= width;
    flow.samples.executingSeats.dec(width);
    if (queue !== undefined) {
      queue.seatsInUse -= width;
      this.#vacateIfIdle(queue);
      this.#dropIfSpare(queue);
    }
    if (this.totals.waiting > 0) this.#turns.run();
    else if (this.totals.executing === 0) this.#onIdle?.();
  }

  #dropIfSpare(queue: Queue): void {
    const wanted = this.#queuing.type === "queue" ? this.#queuing.queues : 0;
    if (queue.index >= wanted && queue.isIdle && queue.seatsInUse === 0) this.#queues.delete(queue.index);
  }

  /** A seat and a turn are free, and nobody waits for them. `alone`: it needs no room in this turn. */
  #goesOn(alone: boolean, seats: number): boolean {
    return this.totals.waiting === 0 && (alone || this.#turns.hasRoom) && this.#accommodates(seats);
  }

  #accommodates(seats: number): boolean {
    if (this.#queuing.type === "exempt") return true;
    if (seats > this.#limit) return this.totals.executing === 0 && this.totals.seatsInUse === 0;
    return this.totals.seatsInUse + seats <= this.#limit;
  }

  #reject(ticket: Ticket, reason: "queue-full" | "concurrency-limit"): Entry {
    this.totals.rejected++;
    ticket.flow.samples.rejected(reason);
    return reason;
  }

  #refuseWaiting(ticket: Ticket, why: "cancelled" | "timedOut"): void {
    const reason: Rejection = "time-out";
    this.totals.rejected++;
    this.totals[why]++;
    ticket.flow.samples.rejected(reason);
    const { queue } = ticket;
    queue?.bound();
    if (queue !== undefined) this.#vacateIfIdle(queue);
    ticket.decide?.(false);
    if (this.isIdle) this.#onIdle?.();
  }

  /** One timer for all that wait, at the first deadline. */
  #expireAt(atMs: number, now: number): void {
    if (this.#expiry !== undefined && this.#expiry.atMs <= atMs) return;
    this.#expiry?.timer.cancel();
    this.#expiry = { atMs, timer: this.#clock.timer(atMs - now, () => this.#expire()) };
  }

  #expire(): void {
    this.#expiry = undefined;
    const now = this.#sync();
    let next = Number.POSITIVE_INFINITY;
    for (const queue of [...this.#lined]) {
      for (const ticket of [...queue.waiting]) {
        if (ticket.deadlineMs > now) next = Math.min(next, ticket.deadlineMs);
        else if (this.#unline(ticket)) this.#refuseWaiting(ticket, "timedOut");
      }
    }
    if (this.totals.waiting > 0) this.#expireAt(next, now);
  }

  #occupy(queue: Queue): void {
    if (queue.isBusy) return;
    queue.isBusy = true;
    this.#busy++;
  }

  #vacateIfIdle(queue: Queue): void {
    if (!queue.isBusy || !queue.isIdle) return;
    queue.isBusy = false;
    this.#busy--;
  }

  /** Before every change: counts what has been the case since the last one, and moves the progress meter by it. */
  #sync(now = this.#clock.monotonic()): number {
    const passedMs = this.#times.advance(this.totals, now);
    if (passedMs > 0 && this.#busy > 0) this.#r += (this.totals.seatsInUse * passedMs) / this.#busy;
    return now;
  }
}
