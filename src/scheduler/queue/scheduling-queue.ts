/**
 * The scheduling queue: where pods wait for their attempts.
 *
 *     add ──► gated ──► active ──► next: in flight ──► done
 *               ▲         ▲ ▲          │ failed
 *               │         │ └ backoff ◄┤ an event meanwhile, or an error
 *               │         │      ▲     │
 *               └─────────┴──────┴── parked: until an event that a rejecting plugin registered, or for PARKED_MS
 *
 * 1. A pod that was added is in exactly one of these places until it is deleted or done.
 * 2. Events that arrive while a pod is in flight count as if they had arrived after its attempt: see InFlight.
 * 3. When no pod is active, a pod that backs off after a rejection is taken early: see BackoffQueue.
 * 4. A pod that is active or backs off has passed `preEnqueue`.
 * 5. One timer runs, for the pod that is due first.
 */
import { Heap, type Timer } from "#base";
import { type ClusterEvent, eventLabel, isRejection, type PodInfo } from "../framework/index.ts";
import { BackoffQueue } from "./backoff-queue.ts";
import { InFlight } from "./in-flight.ts";
import { Parked } from "./parked.ts";
import type { QueueProfile, SchedulingQueueOptions } from "./queue-options.ts";
import { type Failure, gateSet, newQueuedPod, type QueuedPod, type QueueName, schedulerOf } from "./queued-pod.ts";
import { type Answer, firstAnswer, type Rejected } from "./wakes.ts";

const PARKED_MS = 5 * 60_000;
const FLUSH_MS = 30_000;
const NONE: ReadonlySet<string> = new Set();
const FAILED = "ScheduleAttemptFailure";
const ADDED = eventLabel({ resource: "TargetPod", action: "add" });
const UPDATED = eventLabel({ resource: "TargetPod", action: "update" });

export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions;
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active: Heap<QueuedPod>;
  readonly #backoff: BackoffQueue;
  readonly #parked: Parked;
  readonly #gated: Parked;
  readonly #inFlight = new InFlight();
  #waiting: PromiseWithResolvers<void> | undefined;
  #timer: Timer | undefined;
  #flushMs = 0;
  #sequence = 0;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    this.#active = new Heap<QueuedPod>(options.queueSort);
    this.#backoff = new BackoffQueue(options);
    const keysOf = (queued: QueuedPod, rejectors: ReadonlySet<string>) =>
      this.#profile(queued)?.wakes.keysOf(queued.pod, rejectors) ?? [];
    this.#parked = new Parked({ rejectorsOf: ({ rejectors }) => rejectors, keysOf });
    this.#gated = new Parked({ rejectorsOf: gateSet, keysOf });
  }

  get sizes(): Readonly<Record<Exclude<QueueName, "inFlight">, number>> {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size,
      unschedulable: this.#parked.size,
      gated: this.#gated.size,
    };
  }

  /** For each waiting pod: every plugin that rejected it or gates it. */
  *rejections(): Iterable<{ readonly plugin: string; readonly profile: string }> {
    for (const queued of this.#pods.values()) {
      if (queued.where === "inFlight") continue;
      const profile = schedulerOf(queued);
      for (const plugin of queued.rejectors) yield { plugin, profile };
      if (queued.gate !== undefined && !queued.rejectors.has(queued.gate)) yield { plugin: queued.gate, profile };
    }
  }

  get(uid: string): QueuedPod | undefined {
    return this.#pods.get(uid);
  }

  add(pod: PodInfo): void {
    if (this.#pods.has(pod.uid)) {
      this.update(pod, []);
      return;
    }
    this.#sequence += 1;
    const queued = newQueuedPod(pod, this.#sequence, this.#now());
    this.#pods.set(pod.uid, queued);
    this.#activate(queued, ADDED);
  }

  /** `changes`: what has changed about the pod, as events with the resource TargetPod. */
  update(pod: PodInfo, changes: readonly ClusterEvent[]): void {
    const queued = this.#pods.get(pod.uid);
    if (queued === undefined) {
      this.add(pod);
      return;
    }
    const before = queued.where;
    if (before === "unschedulable") this.#parked.delete(queued);
    queued.pod = pod;
    if (before === "inFlight") for (const change of changes) this.#inFlight.record(change);
    if (before === "gated") this.#activate(queued, UPDATED);
    if (before !== "unschedulable") return;
    const wakes = this.#profile(queued)?.wakes;
    const [answer, event] = firstAnswer(changes, (change) => wakes?.ask(queued, change) ?? "queue");
    if (event === undefined) this.#parked.add(queued);
    else this.#wake(queued, answer, eventLabel(event), event);
  }

  delete(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued === undefined) return;
    this.#leave(queued);
    this.#inFlight.end(uid);
    this.#pods.delete(uid);
  }

  /** The next pod to try, which is then in flight; undefined if there is none. */
  take(): QueuedPod | undefined {
    let queued = this.#active.pop();
    if (queued === undefined) {
      queued = this.#backoff.takeEarly();
      if (queued === undefined) return undefined;
      this.#options.onIncoming?.("active", "PopFromBackoffQ");
    }
    queued.entry = undefined;
    return this.#fly(queued);
  }

  /** Takes a certain pod, to try it with another one; undefined if it is gated, in flight, or not here. */
  takeAlso(uid: string): QueuedPod | undefined {
    const queued = this.#pods.get(uid);
    if (queued === undefined || queued.where === "inFlight" || queued.where === "gated") return undefined;
    this.#leave(queued);
    return this.#isGated(queued, "PodGroup") ? undefined : this.#fly(queued);
  }

  #fly(queued: QueuedPod): QueuedPod {
    queued.where = "inFlight";
    queued.sinceMs ??= this.#now();
    queued.attempts += 1;
    queued.retryRequested = false;
    this.#inFlight.begin(queued.pod.uid);
    return queued;
  }

  /** Resolves when there is a pod to take. */
  async ready(): Promise<void> {
    if (this.#active.size > 0 || this.#backoff.hasTakeable) return;
    this.#waiting ??= Promise.withResolvers<void>();
    await this.#waiting.promise;
  }

  /** The pod is being bound: later events are not recorded for it, because a failed binding is retried in any case. */
  settled(uid: string): void {
    this.#inFlight.end(uid);
  }

  /** The pod is bound, or no longer this scheduler's. */
  done(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where !== "inFlight") return;
    this.#inFlight.end(uid);
    this.#pods.delete(uid);
  }

  /** Puts a pod back after an attempt that did not place it. */
  failed(uid: string, failure: Failure): void {
    const queued = this.#pods.get(uid);
    if (queued?.where !== "inFlight") return;
    const missed = this.#inFlight.since(uid);
    this.#inFlight.end(uid);
    queued.addedMs = this.#now();
    queued.wokenBy = undefined;
    queued.wasFlushed = false;
    if (failure.kind === "error" || failure.rejectors.size === 0) {
      queued.errorCount += 1;
      queued.rejectors = new Set();
      queued.pending = new Set();
      this.#backOff(queued, FAILED);
      return;
    }
    queued.rejectedCount += 1;
    queued.errorCount = 0;
    queued.rejectors = failure.rejectors;
    queued.pending = failure.pending;
    queued.backoffUntilMs = this.#backoff.endFor(queued);
    const wakes = this.#profile(queued)?.wakes;
    const [answer, event] = firstAnswer(missed, (each) => wakes?.ask(queued, each) ?? "queue");
    if (event !== undefined) this.#wake(queued, answer, FAILED, event);
    else if (queued.retryRequested) this.#wake(queued, "queue", FAILED);
    else this.#park(queued);
  }

  /** Wakes the pods that an event may make schedulable. `filter`: pods that it may concern. Default: all. */
  event(event: ClusterEvent, filter?: (pod: PodInfo) => boolean): void {
    this.#inFlight.record(event);
    if (this.#parked.size + this.#gated.size === 0) return;
    const label = eventLabel(event);
    const concern = (rejectors: ReadonlySet<string>, schedulerName: string) =>
      this.#options.profileOf(schedulerName)?.wakes.concern(rejectors, event, label) ?? "none";
    const ask = (queued: QueuedPod, rejected: Rejected) =>
      this.#profile(queued)?.wakes.ask(rejected, event, label) ?? "skip";
    for (const queued of this.#parked.concerned(concern)) {
      if (filter?.(queued.pod) === false) continue;
      const answer = ask(queued, queued);
      if (answer !== "skip") this.#wake(queued, answer, label, event);
    }
    for (const queued of this.#gated.concerned(concern)) {
      const held = { pod: queued.pod, rejectors: gateSet(queued), pending: NONE };
      if (ask(queued, held) !== "skip") this.#activate(queued, label);
    }
  }

  /** Runs `preEnqueue` again for a gated pod. */
  ungate(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where === "gated") this.#activate(queued, "ForceActivate");
  }

  /**
   * Moves a pod to the active queue, whatever it waits for. A pod in flight is retried at once if its attempt fails.
   */
  activate(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where === "inFlight") queued.retryRequested = true;
    else if (queued !== undefined && queued.where !== "active") this.#activate(queued, "ForceActivate");
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting?.resolve();
  }

  #wake(queued: QueuedPod, answer: Answer, label: string, event?: ClusterEvent): void {
    queued.wokenBy = event?.new;
    if (answer === "at once" || queued.backoffUntilMs <= this.#now()) this.#activate(queued, label);
    else this.#backOff(queued, label);
  }

  /** Into the active queue, unless a plugin gates the pod. */
  #activate(queued: QueuedPod, event: string): void {
    this.#leave(queued);
    if (this.#isGated(queued, event)) return;
    queued.where = "active";
    queued.sinceMs ??= this.#now();
    queued.entry = this.#active.push(queued);
    this.#options.onIncoming?.("active", event);
    this.#signalReady();
  }

  #isGated(queued: QueuedPod, event: string): boolean {
    queued.gate = this.#gateOf(queued);
    if (queued.gate === undefined) return false;
    this.#gated.add(queued);
    // Kubernetes counts gated pods as unschedulable.
    if (queued.where !== "gated") this.#options.onIncoming?.("unschedulable", event);
    queued.where = "gated";
    return true;
  }

  #gateOf(queued: QueuedPod): string | undefined {
    for (const plugin of this.#profile(queued)?.stages.preEnqueue ?? []) {
      const verdict = plugin.preEnqueue?.(queued.pod);
      if (verdict !== undefined && isRejection(verdict)) return plugin.name;
    }
    return undefined;
  }

  #backOff(queued: QueuedPod, event: string): void {
    this.#leave(queued);
    if (this.#isGated(queued, event)) return;
    if (queued.errorCount > 0) queued.backoffUntilMs = this.#backoff.endFor(queued);
    queued.where = "backoff";
    queued.entry = this.#backoff.push(queued);
    this.#options.onIncoming?.("backoff", event);
    this.#schedule();
    if (queued.errorCount === 0) this.#signalReady();
  }

  #park(queued: QueuedPod): void {
    this.#leave(queued);
    queued.where = "unschedulable";
    if (this.#parked.size === 0) this.#flushMs = this.#now() + FLUSH_MS;
    this.#parked.add(queued);
    this.#options.onIncoming?.("unschedulable", FAILED);
    this.#schedule();
  }

  #leave(queued: QueuedPod): void {
    if (queued.entry !== undefined) {
      if (!this.#active.remove(queued.entry)) this.#backoff.remove(queued.entry);
      queued.entry = undefined;
    }
    if (queued.where === "unschedulable") this.#parked.delete(queued);
    if (queued.where === "gated") this.#gated.delete(queued);
  }

  #signalReady(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const flush = this.#parked.size > 0 ? this.#flushMs : Number.POSITIVE_INFINITY;
    const inMs = Math.min(this.#backoff.nextEndMs, flush) - this.#now();
    if (Number.isFinite(inMs)) this.#timer = this.#options.clock.timer(Math.max(0, inMs), () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    const now = this.#now();
    for (let next = this.#backoff.ended(now); next !== undefined; next = this.#backoff.ended(now))
      this.#activate(next, "BackoffComplete");
    if (now >= this.#flushMs) this.#flush(now);
    this.#schedule();
  }

  #flush(now: number): void {
    this.#flushMs = now + FLUSH_MS;
    for (const queued of this.#parked.concerned(() => "all")) {
      if (now - queued.addedMs < (this.#options.parkedMs ?? PARKED_MS)) continue;
      queued.wasFlushed = true;
      this.#wake(queued, "queue", "UnschedulableTimeout");
    }
  }

  #profile(queued: QueuedPod): QueueProfile | undefined {
    return this.#options.profileOf(schedulerOf(queued));
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}
