/**
 * Bindings that take long: of pods that wait for a permit, and of pods with work in preBind.
 *
 * 1. Until a binding is committed, a preemptor can stop it: the pod returns to the queue and is not deleted.
 */
import { formatMs } from "#api";
import { type ChildController, type Clock, childController, type Timer } from "#base";
import { PASS, type PodInfo, type Rejection, rejectionsOf, type Verdict } from "../framework/index.ts";

export class SlowBinding {
  readonly pod: PodInfo;
  /** The timeouts of the plugins that keep the pod waiting. */
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

  /** Aborts also when the binding is stopped. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Set once the binding was stopped. */
  get preempted(): Rejection | undefined {
    return this.#preempted;
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** The outcome of permit: all plugins allow it, one rejects it, or one times out. */
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

  /** Resolves when the binding has ended; undefined if it is committed already. */
  preempt(plugin: string): Promise<void> | undefined {
    if (this.#isCommitted) return undefined;
    this.#preempted = rejectionsOf(plugin).unschedulable("preempted");
    this.#decided.resolve(this.#preempted);
    this.#stop.abort(new Error("preempted"));
    return this.#ended.promise;
  }

  /** From here on the binding cannot be stopped. */
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

  /** `waits`: timeouts by plugin. The caller has to call `end`. */
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

  /** False if the pod does not wait in permit. */
  reject(uid: string, plugin: string, message: string): boolean {
    const binding = this.#bindings.get(uid);
    if (binding?.isWaiting !== true) return false;
    binding.reject(plugin, message);
    return true;
  }

  /** Resolves when the pod's binding has been stopped; undefined if it has none that can be stopped. */
  preempt(uid: string, plugin: string): Promise<void> | undefined {
    return this.#bindings.get(uid)?.preempt(plugin);
  }

  rejectAll(message: string): void {
    for (const uid of this.#bindings.keys()) this.reject(uid, "", message);
  }
}
