/**
 * Where pods wait for their attempts.
 *
 *     add ──► gated ──► active ──► next: in flight ──► done
 *               ▲         ▲ ▲          │ failed
 *               │         │ └ backoff ◄┤ an event meanwhile, or an error
 *               │         │      ▲     │
 *               └─────────┴──────┴── parked: until an event that its rejectors wait for, or for PARKED_MS
 *
 * 1. A pod that was added is in exactly one of these places until it is deleted or done.
 * 2. What happens while a pod is in flight counts as if it had happened after: see InFlight.
 * 3. A pod whose backoff has not ended is tried all the same when nothing else is to do, unless it waits because of an error: of those whose backoffs end
 *    within the same second, the most important first.
 * 4. Whoever is active or backs off has passed `preEnqueue`.
 * 5. Time is one timer, for whoever is due first.
 */
import { type Clock, Heap, type Timer } from "#base";
import { type ClusterEvent, eventLabel, isRejection, type PodInfo, type Stages } from "../framework/index.ts";
import { InFlight } from "./in-flight.ts";
import { Parked } from "./parked.ts";
import { type Failure, newQueuedPod, type QueuedPod, type QueueName } from "./queued-pod.ts";
import type { Answer, Wakes } from "./wakes.ts";

const PARKED_MS = 5 * 60_000;
const FLUSH_MS = 30_000;
/** Backoffs from rejections end at multiples of this, so that those that end together are told apart by importance. */
const BACKOFF_STEP_MS = 1000;
const NONE: ReadonlySet<string> = new Set();
const FAILED = "ScheduleAttemptFailure";
const ADDED = eventLabel({ resource: "TargetPod", action: "add" });
const UPDATED = eventLabel({ resource: "TargetPod", action: "update" });

export interface QueueProfile {
  readonly stages: Pick<Stages, "preEnqueue" | "queueSort">;
  readonly wakes: Wakes;
}

export interface SchedulingQueueOptions {
  /** Undefined: not a pod of this scheduler. */
  readonly profileOf: (schedulerName: string) => QueueProfile | undefined;
  readonly queueSort: NonNullable<Stages["queueSort"]["queueSort"]>;
  readonly clock: Clock;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** A pod that no event has woken is tried again after this long. Default: five minutes. */
  readonly parkedMs?: number | undefined;
  /** A pod has come into a queue because of something. */
  readonly onIncoming?: (queue: QueueName, event: string) => void;
}

export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions;
  readonly #pods = new Map<string, QueuedPod>();
  readonly #active: Heap<QueuedPod>;
  readonly #backoff: Heap<QueuedPod>;
  /** Those that back off because of an error. */
  readonly #erring = new Heap<QueuedPod>((a, b) => a.backoffUntilMs < b.backoffUntilMs);
  readonly #parked = new Parked();
  readonly #gated = new Parked();
  readonly #inFlight = new InFlight();
  #waiting: PromiseWithResolvers<void> | undefined;
  #timer: Timer | undefined;
  #flushMs = 0;
  #sequence = 0;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    const { queueSort } = options;
    this.#active = new Heap<QueuedPod>(queueSort);
    this.#backoff = new Heap<QueuedPod>((a, b) =>
      a.backoffUntilMs === b.backoffUntilMs ? queueSort(a, b) : a.backoffUntilMs < b.backoffUntilMs,
    );
  }

  get sizes(): Readonly<Record<Exclude<QueueName, "inFlight">, number>> {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size + this.#erring.size,
      unschedulable: this.#parked.size,
      gated: this.#gated.size,
    };
  }

  /** Of each pod that waits: every plugin that has rejected it, or holds it back. */
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

  /** `changes`: what is different about it, as events of itself. */
  update(pod: PodInfo, changes: readonly ClusterEvent[]): void {
    const queued = this.#pods.get(pod.uid);
    if (queued === undefined) {
      this.add(pod);
      return;
    }
    const before = queued.where;
    if (before === "unschedulable") this.#parked.delete(queued, schedulerOf(queued));
    queued.pod = pod;
    if (before === "inFlight") for (const change of changes) this.#inFlight.record(change);
    if (before === "gated") this.#activate(queued, UPDATED);
    if (before !== "unschedulable") return;
    const wakes = this.#profile(queued)?.wakes;
    const [answer, event] = firstAnswer(changes, (change) => wakes?.ask(queued, change) ?? "queue");
    if (event === undefined) this.#parked.add(queued, schedulerOf(queued));
    else this.#wake(queued, answer, eventLabel(event), event);
  }

  delete(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued === undefined) return;
    this.#leave(queued);
    this.#inFlight.end(uid);
    this.#pods.delete(uid);
  }

  /** The next pod to try, at once if there is one: it is in flight then. */
  take(): QueuedPod | undefined {
    const queued = this.#active.pop() ?? this.#popBackoff();
    if (queued === undefined) return undefined;
    queued.entry = undefined;
    queued.where = "inFlight";
    queued.attempts += 1;
    queued.isWanted = false;
    this.#inFlight.begin(queued.pod.uid);
    return queued;
  }

  #popBackoff(): QueuedPod | undefined {
    const queued = this.#backoff.pop();
    if (queued !== undefined) this.#options.onIncoming?.("active", "PopFromBackoffQ");
    return queued;
  }

  /** When there is something to take. */
  async ready(): Promise<void> {
    if (this.#active.size + this.#backoff.size > 0) return;
    this.#waiting ??= Promise.withResolvers<void>();
    await this.#waiting.promise;
  }

  /** What happens from now on cannot make it fit elsewhere: it is being bound, and if that fails it is tried again in any case. */
  settled(uid: string): void {
    this.#inFlight.end(uid);
  }

  /** It has found its place, or is no longer ours. */
  done(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where !== "inFlight") return;
    this.#inFlight.end(uid);
    this.#pods.delete(uid);
  }

  /** Back from an attempt. */
  failed(uid: string, failure: Failure): void {
    const queued = this.#pods.get(uid);
    if (queued?.where !== "inFlight") return;
    const missed = this.#inFlight.since(uid);
    this.#inFlight.end(uid);
    queued.addedMs = this.#now();
    queued.wokenBy = undefined;
    queued.isLeftover = false;
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
    queued.backoffUntilMs = this.#backoffEnd(queued);
    const wakes = this.#profile(queued)?.wakes;
    const [answer, event] = firstAnswer(missed, (each) => wakes?.ask(queued, each) ?? "queue");
    if (event !== undefined) this.#wake(queued, answer, FAILED, event);
    else if (queued.isWanted) this.#wake(queued, "queue", FAILED);
    else this.#park(queued);
  }

  /** Something has happened in the cluster. `touches`: whom it can concern at all; absent: everybody. */
  event(event: ClusterEvent, touches?: (pod: PodInfo) => boolean): void {
    this.#inFlight.record(event);
    if (this.#parked.size + this.#gated.size === 0) return;
    const label = eventLabel(event);
    const concerns = (rejectors: ReadonlySet<string>, schedulerName: string) =>
      this.#options.profileOf(schedulerName)?.wakes.concerns(rejectors, label) ?? false;
    for (const queued of this.#parked.concerned(concerns)) {
      if (touches?.(queued.pod) === false) continue;
      const answer = this.#profile(queued)?.wakes.ask(queued, event, label) ?? "skip";
      if (answer !== "skip") this.#wake(queued, answer, label, event);
    }
    for (const queued of this.#gated.concerned(concerns)) {
      const held = { pod: queued.pod, rejectors: gateSet(queued), pending: NONE };
      if (this.#profile(queued)?.wakes.ask(held, event, label) !== "skip") this.#activate(queued, label);
    }
  }

  /** A plugin that held it back may have changed its mind. */
  ungate(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where === "gated") this.#activate(queued, "ForceActivate");
  }

  /** Whatever it waits for. One that is being tried is tried again if it fails. */
  activate(uid: string): void {
    const queued = this.#pods.get(uid);
    if (queued?.where === "inFlight") queued.isWanted = true;
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

  /** Into the active queue, unless a plugin holds it back. */
  #activate(queued: QueuedPod, event: string): void {
    this.#leave(queued);
    if (this.#isGated(queued, event)) return;
    queued.where = "active";
    queued.sinceMs ??= this.#now();
    queued.entry = this.#active.push(queued);
    this.#options.onIncoming?.("active", event);
    this.#tell();
  }

  #isGated(queued: QueuedPod, event: string): boolean {
    queued.gate = this.#gateOf(queued);
    if (queued.gate === undefined) return false;
    this.#gated.add(queued, schedulerOf(queued), gateSet(queued));
    // Among those that wait, for whoever counts.
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
    if (queued.errorCount > 0) queued.backoffUntilMs = this.#backoffEnd(queued);
    queued.where = "backoff";
    queued.entry = (queued.errorCount > 0 ? this.#erring : this.#backoff).push(queued);
    this.#options.onIncoming?.("backoff", event);
    this.#schedule();
    if (queued.errorCount === 0) this.#tell();
  }

  #park(queued: QueuedPod): void {
    this.#leave(queued);
    queued.where = "unschedulable";
    if (this.#parked.size === 0) this.#flushMs = this.#now() + FLUSH_MS;
    this.#parked.add(queued, schedulerOf(queued));
    this.#options.onIncoming?.("unschedulable", FAILED);
    this.#schedule();
  }

  #leave(queued: QueuedPod): void {
    if (queued.entry !== undefined) {
      for (const heap of [this.#active, this.#backoff, this.#erring]) if (heap.remove(queued.entry)) break;
      queued.entry = undefined;
    }
    if (queued.where === "unschedulable") this.#parked.delete(queued, schedulerOf(queued));
    if (queued.where === "gated") this.#gated.delete(queued, schedulerOf(queued), gateSet(queued));
  }

  #backoffEnd({ addedMs, rejectedCount, errorCount }: QueuedPod): number {
    const { initialBackoffMs, maxBackoffMs } = this.#options;
    const tries = Math.max(1, errorCount > 0 ? errorCount : rejectedCount);
    const end = addedMs + Math.min(maxBackoffMs, initialBackoffMs * 2 ** (tries - 1));
    return errorCount > 0 ? end : Math.ceil(end / BACKOFF_STEP_MS) * BACKOFF_STEP_MS;
  }

  #tell(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const due = Math.min(dueOf(this.#backoff), dueOf(this.#erring));
    const flush = this.#parked.size > 0 ? this.#flushMs : Number.POSITIVE_INFINITY;
    const inMs = Math.min(due, flush) - this.#now();
    if (Number.isFinite(inMs)) this.#timer = this.#options.clock.timer(Math.max(0, inMs), () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    const now = this.#now();
    for (const heap of [this.#backoff, this.#erring]) {
      while (dueOf(heap) <= now) {
        const first = heap.peek();
        if (first !== undefined) this.#activate(first, "BackoffComplete");
      }
    }
    if (now >= this.#flushMs) this.#flush(now);
    this.#schedule();
  }

  #flush(now: number): void {
    this.#flushMs = now + FLUSH_MS;
    for (const queued of this.#parked.concerned(() => true)) {
      if (now - queued.addedMs < (this.#options.parkedMs ?? PARKED_MS)) continue;
      queued.isLeftover = true;
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

function firstAnswer(
  events: readonly ClusterEvent[],
  ask: (event: ClusterEvent) => Answer,
): [Answer, ClusterEvent | undefined] {
  let first: [Answer, ClusterEvent | undefined] = ["skip", undefined];
  for (const event of events) {
    const answer = ask(event);
    if (answer === "at once") return [answer, event];
    if (answer === "queue" && first[1] === undefined) first = [answer, event];
  }
  return first;
}

function dueOf(heap: Heap<QueuedPod>): number {
  return heap.peek()?.backoffUntilMs ?? Number.POSITIVE_INFINITY;
}

/** Who holds it back, as those who reject are told. */
function gateSet({ gate = "" }: QueuedPod): ReadonlySet<string> {
  return new Set([gate]);
}

function schedulerOf({ pod }: QueuedPod): string {
  return pod.pod.spec?.schedulerName ?? "";
}
