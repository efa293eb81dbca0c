/**
 * The workers of all Pods of a node.
 *
 * 1. A Pod is taken or refused once, when it first arrives, against those that are on the node already: earlier ones first.
 * 2. A worker leaves when its Pod is gone; until then the Pod's uid belongs to it.
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
  /** Why the node cannot take the Pod beside these; undefined if it can. */
  readonly admit: (pod: core.Pod, active: readonly core.Pod[]) => PodFailure | undefined;
  /** A Pod is there or has changed, or is gone for good. */
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
    const isEnding = pod.metadata.deletionTimestamp !== undefined || isOver(pod);
    // A running Pod whose resize is pending counts with what it has, not with what it asks for.
    const allocated = withAllocation(pod, rememberedAllocation(pod));
    const rejection = isEnding ? undefined : admit(allocated, this.active());
    if (rejection !== undefined) parts.events.record(pod, "Warning", rejection.reason, rejection.message);
    const worker = new PodWorker({ parts, status, random, pod, rejection });
    this.#workers.set(uid, worker);
    tasks.run(`pod ${pod.metadata.namespace}/${pod.metadata.name}`, async (signal) => {
      await worker.run(signal);
      if (signal.aborted) return;
      this.#workers.delete(uid);
      status.forget(uid);
      onGone?.(uid);
    });
  }
}

function isOver({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
