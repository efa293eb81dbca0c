/**
 * The workers of all Pods of a node.
 *
 * 1. A Pod is admitted or rejected once, when it arrives, beside the Pods that are on the node already.
 * 2. There is one worker for each uid until its Pod is gone.
 */
import type { core } from "#api";
import type { Random, TaskGroup } from "#base";
import { rememberedAllocation, withAllocation } from "../admission/index.ts";
import type { PodFailure } from "../lifecycle/index.ts";
import type { PodParts } from "./parts.ts";
import { PodWorker } from "./pod-worker.ts";
import type { StatusWriter } from "./status-writer.ts";

export interface PodWorkersOptions {
  readonly parts: PodParts;
  readonly status: StatusWriter;
  readonly random: Random;
  readonly tasks: TaskGroup;
  /** Why the node rejects the Pod beside the active ones; undefined if it admits it. */
  readonly admit: (pod: core.Pod, active: readonly core.Pod[]) => PodFailure | undefined;
  /** Called when a Pod is new or has changed. */
  readonly onPod?: (pod: core.Pod) => void;
  readonly onGone?: (uid: string) => void;
}

export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new Map<string, PodWorker>();

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  set(pod: core.Pod): void {
    const { uid = "" } = pod.metadata;
    this.#options.onPod?.(pod);
    const worker = this.#workers.get(uid);
    if (worker === undefined) this.#start(uid, pod);
    else worker.update(pod);
  }

  /** No source has it any more. */
  remove(uid: string): void {
    this.#workers.get(uid)?.removed();
  }

  poke(uid: string): void {
    this.#workers.get(uid)?.poke();
  }

  get(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  has(uid: string): boolean {
    return this.#workers.has(uid);
  }

  list(): readonly PodWorker[] {
    return [...this.#workers.values()];
  }

  active(): readonly core.Pod[] {
    return this.list()
      .filter(({ isActive }) => isActive)
      .map(({ allocated }) => allocated);
  }

  #start(uid: string, pod: core.Pod): void {
    const { parts, status, random, tasks, admit, onGone } = this.#options;
    if (tasks.signal.aborted) return;
    parts.metrics.seen(pod);
    const isEnding = pod.metadata.deletionTimestamp !== undefined || isOver(pod);
    // A running Pod with a pending resize counts with its allocation, not with its spec.
    const allocated = withAllocation(pod, rememberedAllocation(pod));
    const rejection = isEnding ? undefined : admit(allocated, this.active());
    if (rejection !== undefined) {
      parts.events.record(pod, "Warning", rejection.reason, rejection.message);
      parts.metrics.rejected(rejection.reason);
    }
    const worker = new PodWorker({ parts, status, random, pod, rejection });
    this.#workers.set(uid, worker);
    tasks.run(`pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (signal) => {
      await worker.run(signal);
      if (signal.aborted) return;
      this.#workers.delete(uid);
      status.forget(uid);
      parts.metrics.gone(uid);
      onGone?.(uid);
    });
  }
}

function isOver({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
