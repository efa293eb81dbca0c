/** Pods that a plugin's permit keeps waiting before they are bound. */
import { formatDuration } from "#api";
import type { Clock, Timer } from "#base";
import { PASS, type PodInfo, rejectionsOf, type Verdict } from "../framework/index.ts";

interface Waiting {
  readonly pod: PodInfo;
  readonly pending: Map<string, Timer>;
  readonly decided: PromiseWithResolvers<Verdict>;
}

export class WaitingPods {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until all plugins allow it, one rejects it, or the time of one is up. */
  async wait(pod: PodInfo, plugins: ReadonlyMap<string, number>): Promise<Verdict> {
    const decided = Promise.withResolvers<Verdict>();
    const pending = new Map<string, Timer>();
    this.#waiting.set(pod.uid, { pod, pending, decided });
    for (const [plugin, timeoutMs] of plugins) {
      const waited = formatDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n);
      const late = () =>
        this.reject(pod.uid, plugin, `rejected due to timeout after waiting ${waited} at plugin ${plugin}`);
      pending.set(plugin, this.#clock.timer(timeoutMs, late));
    }
    try {
      return await decided.promise;
    } finally {
      for (const timer of pending.values()) timer.cancel();
      this.#waiting.delete(pod.uid);
    }
  }

  pods(): readonly PodInfo[] {
    return [...this.#waiting.values()].map(({ pod }) => pod);
  }

  allow(uid: string, plugin: string): void {
    const waiting = this.#waiting.get(uid);
    waiting?.pending.get(plugin)?.cancel();
    waiting?.pending.delete(plugin);
    if (waiting?.pending.size === 0) waiting.decided.resolve(PASS);
  }

  /** False if it does not wait. */
  reject(uid: string, plugin: string, message: string): boolean {
    const waiting = this.#waiting.get(uid);
    waiting?.decided.resolve(rejectionsOf(plugin).unschedulable(message));
    return waiting !== undefined;
  }

  rejectAll(message: string): void {
    for (const uid of this.#waiting.keys()) this.reject(uid, "", message);
  }
}
