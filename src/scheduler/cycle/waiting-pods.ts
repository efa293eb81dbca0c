/**
 * Pods whose binding takes its time: those that a plugin's permit keeps waiting, and those that a preBind works for.
 *
 * 1. Until it is committed to, whoever is more important can stop it: the pod goes back to the queue and need not be deleted.
 */
import { formatMs } from "#api";
import { type ChildController, type Clock, childController, type Timer } from "#base";
import { PASS, type PodInfo, type Rejection, rejectionsOf, type Verdict } from "../framework/index.ts";

export class SlowBinding {
  readonly pod: PodInfo;
  /** By plugin: until when it may keep the pod waiting. */
  readonly #pending = new Map<string, Timer>();
  readonly #decided = Promise.withResolvers<Verdict>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #stop: ChildController;
  #isCommitted = false;
  #preempted: Rejection | undefined;

  constructor(pod: PodInfo, signal: AbortSignal) {
    this.pod = pod;
    this.#stop = childController(signal);
  }

  /** Aborts also when it is stopped. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Set once it was stopped. */
  get preempted(): Rejection | undefined {
    return this.#preempted;
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** What came of permit: all plugins allow it, one rejects it, or the time of one is up. */
  get permitted(): Promise<Verdict> {
    return this.#decided.promise;
  }

  keep(waits: ReadonlyMap<string, number>, clock: Clock): void {
    for (const [plugin, timeoutMs] of waits) {
      const late = () =>
        this.reject(plugin, `rejected due to timeout after waiting ${formatMs(timeoutMs)} at plugin ${plugin}`);
      this.#pending.set(plugin, clock.timer(timeoutMs, late));
    }
    if (waits.size === 0) this.#decided.resolve(PASS);
  }

  allow(plugin: string): void {
    this.#pending.get(plugin)?.cancel();
    this.#pending.delete(plugin);
    if (this.#pending.size === 0) this.#decided.resolve(PASS);
  }

  reject(plugin: string, message: string): void {
    this.#decided.resolve(rejectionsOf(plugin).unschedulable(message));
  }

  /** When it is over; undefined: it is too late for that. */
  preempt(plugin: string): Promise<void> | undefined {
    if (this.#isCommitted) return undefined;
    this.#preempted = rejectionsOf(plugin).unschedulable("preempted");
    this.#decided.resolve(this.#preempted);
    this.#stop.abort(new Error("preempted"));
    return this.#ended.promise;
  }

  /** From here on there is no way back. */
  commit(): void {
    this.#isCommitted = true;
  }

  end(): void {
    for (const timer of this.#pending.values()) timer.cancel();
    this.#stop[Symbol.dispose]();
    this.#ended.resolve();
  }
}

export class WaitingPods {
  readonly #clock: Clock;
  readonly #bindings = new Map<string, SlowBinding>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `waits`: by plugin, for how long it keeps the pod waiting at most. To be ended with `end`. */
  begin(pod: PodInfo, waits: ReadonlyMap<string, number>, signal: AbortSignal): SlowBinding {
    const binding = new SlowBinding(pod, signal);
    this.#bindings.set(pod.uid, binding);
    binding.keep(waits, this.#clock);
    return binding;
  }

  end(binding: SlowBinding): void {
    this.#bindings.delete(binding.pod.uid);
    binding.end();
  }

  allow(uid: string, plugin: string): void {
    this.#bindings.get(uid)?.allow(plugin);
  }

  /** False if no permit keeps it waiting. */
  reject(uid: string, plugin: string, message: string): boolean {
    const binding = this.#bindings.get(uid);
    if (binding?.isWaiting !== true) return false;
    binding.reject(plugin, message);
    return true;
  }

  /** When its binding has been stopped; undefined if there is none that can be. */
  preempt(uid: string, plugin: string): Promise<void> | undefined {
    return this.#bindings.get(uid)?.preempt(plugin);
  }

  rejectAll(message: string): void {
    for (const uid of this.#bindings.keys()) this.reject(uid, "", message);
  }
}
