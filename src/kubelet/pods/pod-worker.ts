/**
 * One Pod from its arrival to its end: the only one who acts on it.
 *
 *     syncing ──► terminating ──► terminated ──► gone
 *        │  ▲                         │
 *        └──┘ until it is deleted,    └─ a Pod that has finished waits here for its deletion
 *             has finished, or has to go
 *
 * 1. There is no way back. Whatever arrives later is looked at in the state it has reached.
 * 2. One step at a time. A step is given up when the Pod has to go, or has to go sooner than was said.
 * 3. A step that fails is tried again after a backoff; what is done already is found done.
 * 4. Why the node ends a Pod is written down before anything is stopped: a kubelet that is started in the middle goes on, and knows.
 * 5. The Pod is deleted from the API only after nothing of it runs and its volumes are down.
 */
import type { core } from "#api";
import { Backoff, type ChildController, childController, isAbort, type Random } from "#base";
import { rememberedAllocation, withAllocation } from "../admission/index.ts";
import { type PodFailure, podGraceSeconds } from "../lifecycle/index.ts";
import { podStatus, podText, rejectedStatus } from "../pod-status/index.ts";
import { killPod } from "./kill.ts";
import { observe } from "./observe.ts";
import type { PodParts } from "./parts.ts";
import { newMemory, type PodMemory } from "./pod-memory.ts";
import { isRunning, lookAtPod } from "./runtime-pod.ts";
import type { StatusWriter } from "./status-writer.ts";
import { syncPod } from "./sync-pod.ts";

export type PodState = "syncing" | "terminating" | "terminated" | "gone";

export interface PodWorkerOptions {
  readonly parts: PodParts;
  readonly status: Pick<StatusWriter, "set" | "finish">;
  readonly random: Random;
  readonly pod: core.Pod;
  /** Why the node does not take it. */
  readonly rejection?: PodFailure | undefined;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 10_000;
/** However quiet it is: contents of volumes are brought up to date. */
const RESYNC_MS = 60_000;

interface Ending {
  readonly failure?: PodFailure | undefined;
  readonly graceSeconds?: number | undefined;
  readonly conditions?: readonly core.PodCondition[] | undefined;
}

export class PodWorker {
  readonly uid: string;
  readonly #parts: PodParts;
  readonly #status: PodWorkerOptions["status"];
  readonly #memory: PodMemory = newMemory();
  readonly #backoff: Backoff;
  readonly #rejection: PodFailure | undefined;
  #pod: core.Pod;
  #state: PodState = "syncing";
  #ending: Ending | undefined;
  /** No source has it any more. */
  #isRemoved = false;
  #step: ChildController | undefined;
  #graceSeconds = Number.POSITIVE_INFINITY;
  #isDue = true;
  /** How it has ended. */
  #isTold = false;
  #wake: (() => void) | undefined;

  constructor({ parts, status, random, pod, rejection }: PodWorkerOptions) {
    this.uid = pod.metadata.uid ?? "";
    this.#parts = parts;
    this.#status = status;
    this.#pod = pod;
    this.#rejection = rejection;
    this.#backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 }, random);
    if (rejection !== undefined) this.#end({ failure: rejection });
    this.#considerDeletion();
  }

  get pod(): core.Pod {
    return this.#pod;
  }

  /** With the resources that the node has given it. */
  get allocated(): core.Pod {
    return withAllocation(this.#pod, this.#memory.allocation ?? rememberedAllocation(this.#pod));
  }

  get state(): PodState {
    return this.#state;
  }

  /** Whether it still takes up room on the node. */
  get isActive(): boolean {
    return this.#rejection === undefined && (this.#state === "syncing" || this.#state === "terminating");
  }

  /** What the kubelet itself has written comes back as a change, too: it is no reason to look again. */
  update(pod: core.Pod): void {
    const before = this.#pod;
    this.#pod = pod;
    this.#considerDeletion();
    if (isNews(before, pod)) this.poke();
  }

  /** Something may have happened to it. */
  poke(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** What made its steps fail is over. */
  retry(): void {
    this.#backoff.reset();
    this.poke();
  }

  /** It has to go: evicted, preempted, or its node shuts down. */
  evict(failure: PodFailure, graceSeconds: number, conditions: readonly core.PodCondition[] = []): void {
    this.#end({ failure, graceSeconds, conditions });
    this.poke();
  }

  removed(): void {
    this.#isRemoved = true;
    this.#end({});
    this.poke();
  }

  /** Until it is gone, or the signal aborts. Containers that run go on. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state === "syncing") await this.#recall();
    while (this.#state !== "gone") {
      this.#isDue = false;
      const waitMs = await this.#attempt(signal);
      if (signal.aborted) return;
      await this.#wait(waitMs, signal);
      if (signal.aborted) return;
    }
  }

  /** What a kubelet before this one has begun to end. */
  async #recall(): Promise<void> {
    try {
      const text = await this.#parts.files.readEnding(this.uid);
      if (text !== undefined) this.#end(JSON.parse(text) as Ending);
    } catch (error) {
      this.#parts.log.warn("why a pod had to go cannot be read", { pod: podText(this.#pod), error });
    }
  }

  /** One step; how long to wait for the next if nothing happens. */
  async #attempt(signal: AbortSignal): Promise<number> {
    const step = childController(signal);
    this.#step = step;
    try {
      const waitMs = await this.#next(step.signal);
      this.#backoff.reset();
      return waitMs;
    } catch (error) {
      if (isAbort(error, step.signal)) return 0;
      const waitMs = this.#backoff.next();
      const pod = podText(this.#pod);
      this.#parts.log.warn("a step of a pod failed and is tried again", { pod, state: this.#state, waitMs, error });
      return waitMs;
    } finally {
      this.#step = undefined;
      step[Symbol.dispose]();
    }
  }

  async #next(signal: AbortSignal): Promise<number> {
    switch (this.#state) {
      case "syncing":
        return this.#sync(signal);
      case "terminating":
        return this.#terminate(signal);
      case "terminated":
        return this.#cleanUp(signal);
      case "gone":
        return 0;
    }
  }

  async #sync(signal: AbortSignal): Promise<number> {
    const pod = this.#pod;
    const tell = (status: core.PodStatus) => this.#status.set(pod, status);
    const result = await syncPod(this.#parts, pod, this.#memory, tell, signal);
    if (result.next === "end") {
      this.#end({ failure: result.failure });
      return 0;
    }
    if (result.next === "again") return 0;
    return Math.min(RESYNC_MS, Math.max(0, (result.wakeAtMs ?? Number.POSITIVE_INFINITY) - this.#parts.clock.now()));
  }

  async #terminate(signal: AbortSignal): Promise<number> {
    const { parts, pod } = { parts: this.#parts, pod: this.#pod };
    const graceSeconds = this.#ending?.graceSeconds ?? podGraceSeconds(pod);
    this.#graceSeconds = graceSeconds;
    parts.probes.terminating(this.uid);
    if (this.#ending?.failure !== undefined) await parts.files.writeEnding(this.uid, JSON.stringify(this.#ending));
    const runtime = await lookAtPod(parts.runtime, this.uid, signal);
    await this.#tell(runtime);
    await killPod(parts, pod, runtime, graceSeconds, signal);
    const after = await lookAtPod(parts.runtime, this.uid, signal);
    if (isRunning(after)) throw new Error("containers still run after they were stopped");
    await this.#tell(after);
    this.#state = "terminated";
    parts.probes.forget(this.uid);
    return 0;
  }

  async #cleanUp(signal: AbortSignal): Promise<number> {
    const { parts, pod } = { parts: this.#parts, pod: this.#pod };
    await parts.volumes.unmount(this.uid, signal);
    await parts.cgroups.remove(this.uid);
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (!isDeleted && !this.#isRemoved) {
      // It was told when it ended. A runtime may say later why that was, such as that memory had run out.
      if (this.#isTold) await this.#tell(await lookAtPod(parts.runtime, this.uid, signal));
      this.#isTold = true;
      return Number.POSITIVE_INFINITY;
    }
    await this.#tell(await lookAtPod(parts.runtime, this.uid, signal));
    if (!this.#isRemoved) await this.#status.finish(pod, signal);
    await removeFromNode(parts, pod, signal);
    this.#state = "gone";
    return 0;
  }

  async #tell(runtime: Awaited<ReturnType<typeof lookAtPod>>): Promise<void> {
    const pod = this.#pod;
    const nowMs = this.#parts.clock.now();
    if (this.#rejection !== undefined) {
      this.#status.set(pod, rejectedStatus(pod, this.#rejection, nowMs));
      return;
    }
    const observed = await observe(this.#parts, pod, runtime, {
      waiting: this.#memory.failedStarts,
      previous: this.#memory.previous,
      isOver: true,
      failure: this.#ending?.failure,
      conditions: this.#ending?.conditions ?? [],
    });
    const status = podStatus(pod, observed, nowMs);
    this.#memory.previous = status;
    this.#status.set(pod, status);
  }

  #considerDeletion(): void {
    if (this.#pod.metadata.deletionTimestamp === undefined) return;
    if (this.#state === "syncing") this.#end({});
    else if (this.#state === "terminating" && podGraceSeconds(this.#pod) < this.#graceSeconds) this.#step?.abort();
  }

  #end(ending: Ending): void {
    if (this.#state !== "syncing") return;
    this.#ending = ending;
    this.#state = "terminating";
    this.#step?.abort(new Error("the pod has to go"));
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isDue || ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    const timer = ms < Number.POSITIVE_INFINITY ? this.#parts.clock.timer(ms, wake) : undefined;
    try {
      await promise;
    } finally {
      timer?.cancel();
      signal.removeEventListener("abort", wake);
      this.#wake = undefined;
    }
  }
}

/** Whether there is something that the Pod is to be looked at for: its spec, its metadata, or a readiness gate. */
function isNews(before: core.Pod, after: core.Pod): boolean {
  const told = ({ metadata, spec, status }: core.Pod) => {
    const { generation, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
    const gates = (spec?.readinessGates ?? []).map(({ conditionType }) =>
      status?.conditions?.find(({ type }) => type === conditionType),
    );
    const own = generation === undefined ? spec : generation;
    return { own, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds, gates };
  };
  return JSON.stringify(told(before)) !== JSON.stringify(told(after));
}

/** Containers, sandboxes and files of a Pod that nobody will ask for any more. */
async function removeFromNode(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<void> {
  const { uid = "" } = pod.metadata;
  const runtime = await lookAtPod(parts.runtime, uid, signal);
  for (const { id } of runtime.containers) await parts.runtime.removeContainer(id, signal);
  for (const { id } of runtime.sandboxes) {
    await parts.runtime.stopPodSandbox(id, signal);
    await parts.runtime.removePodSandbox(id, signal);
  }
  await parts.files.removePod(uid);
  await parts.files.removeLogs(uid);
}
