/**
 * The worker of one Pod, from its arrival to its end: only the worker acts on the Pod.
 *
 *     syncing ──► terminating ──► terminated ──► gone
 *        │  ▲                         │
 *        └──┘ until it is deleted,    └─ a finished Pod waits here for its deletion
 *             finished or evicted
 *
 * 1. States only advance. Changes that arrive later are handled in the current state.
 * 2. One step at a time. A step is aborted when the Pod is to end, or to end sooner than before.
 * 3. A failed step is retried after a backoff; steps are idempotent.
 * 4. The reason why the node ends a Pod is stored before anything is stopped: a restarted kubelet continues with it.
 * 5. Readiness probes continue while containers stop, and what they find is reported.
 * 6. The Pod is deleted from the API only after its containers have exited and its volumes are unmounted.
 */
import type { core } from "#api";
import { Backoff, type ChildController, childController, isAbort, type Random } from "#base";
import { rememberedAllocation, withAllocation } from "../admission/index.ts";
import { type PodFailure, podGraceSeconds } from "../lifecycle/index.ts";
import { isFinal, podStatus, podText, rejectedStatus } from "../pod-status/index.ts";
import { killPod } from "./kill.ts";
import { observe } from "./observe.ts";
import type { PodParts } from "./parts.ts";
import { needsSync, removeFromNode } from "./pod-changes.ts";
import { newMemory, type PodMemory } from "./pod-memory.ts";
import type { SyncKind } from "./pod-metrics.ts";
import { isRunning, lookAtPod, type RuntimePod } from "./runtime-pod.ts";
import type { StatusWriter } from "./status-writer.ts";
import { syncPod } from "./sync-pod.ts";
import { SyncTrace } from "./sync-trace.ts";

export type PodState = "syncing" | "terminating" | "terminated" | "gone";

export interface PodWorkerOptions {
  readonly parts: PodParts;
  readonly status: Pick<StatusWriter, "set" | "finish">;
  readonly random: Random;
  readonly pod: core.Pod;
  /** Why the node rejects the Pod. */
  readonly rejection?: PodFailure | undefined;
}

const RETRY = { initialMs: 1000, maxMs: 10_000, jitter: 0.5 };
/** Even without events, to update the contents of volumes. */
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
  #rejection: PodFailure | undefined;
  #pod: core.Pod;
  #state: PodState = "syncing";
  #ending: Ending | undefined;
  /** No source has it any more. */
  #isRemoved = false;
  #step: ChildController | undefined;
  #graceSeconds = Number.POSITIVE_INFINITY;
  #isDue = true;
  /** Its final status has been reported. */
  #isFinalReported = false;
  #wake: (() => void) | undefined;
  /** What the next sync is for. */
  #syncKind: SyncKind = "create";
  readonly #trace: SyncTrace;

  constructor({ parts, status, random, pod, rejection }: PodWorkerOptions) {
    this.uid = pod.metadata.uid ?? "";
    this.#parts = parts;
    this.#status = status;
    this.#pod = pod;
    this.#rejection = rejection;
    this.#backoff = new Backoff(RETRY, random);
    this.#trace = new SyncTrace(parts.tracer);
    if (rejection !== undefined) this.#end({ failure: rejection });
    this.#considerDeletion();
  }

  get pod(): core.Pod {
    return this.#pod;
  }

  /** With the resources that the node has allocated. */
  get allocated(): core.Pod {
    return withAllocation(this.#pod, this.#memory.allocation ?? rememberedAllocation(this.#pod));
  }

  get state(): PodState {
    return this.#state;
  }

  /** No source has it any more. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Whether it still uses resources of the node. */
  get isActive(): boolean {
    return this.#rejection === undefined && (this.#state === "syncing" || this.#state === "terminating");
  }

  /** The kubelet's own writes come back as changes, too; they do not cause a sync. */
  update(pod: core.Pod): void {
    const before = this.#pod;
    this.#pod = pod;
    this.#considerDeletion();
    if (!needsSync(before, pod)) return;
    if (this.#syncKind !== "create") this.#syncKind = "update";
    this.poke();
  }

  /** Something may have changed: sync soon. */
  poke(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Retries a failed step now: its cause may be gone. */
  retry(): void {
    this.#backoff.reset();
    this.poke();
  }

  /** Ends the Pod: evicted, preempted, or the node shuts down. */
  evict(failure: PodFailure, graceSeconds: number, conditions: readonly core.PodCondition[] = []): void {
    this.#end({ failure, graceSeconds, conditions });
    this.poke();
  }

  removed(): void {
    this.#isRemoved = true;
    this.#end({});
    this.poke();
  }

  /** Runs until the Pod is gone or the signal aborts. Containers keep running after an abort. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state === "syncing") await this.#restoreEnding();
    if (this.#state === "syncing") await this.#handOut();
    while (this.#state !== "gone") {
      this.#isDue = false;
      const waitMs = await this.#attempt(signal);
      if (signal.aborted) return;
      await this.#wait(waitMs, signal);
      if (signal.aborted) return;
    }
  }

  /** Continues an end that a kubelet before this one has begun. */
  async #restoreEnding(): Promise<void> {
    try {
      const text = await this.#parts.files.readEnding(this.uid);
      if (text !== undefined) this.#end(JSON.parse(text) as Ending);
    } catch (error) {
      this.#parts.log.warn("stored reason of a pod's end cannot be read", { pod: podText(this.#pod), error });
    }
  }

  /** CPUs, memory and devices, before anything starts. A kubelet that restarts asks again for what the Pod has. */
  async #handOut(): Promise<void> {
    if (isFinal(this.#pod.status?.phase)) return;
    const { topology, devices, events, metrics } = this.#parts;
    const rejection = (await topology?.admit(this.allocated)) ?? (await devices.admit(this.allocated));
    if (rejection === undefined || this.#state !== "syncing") return;
    events.record(this.#pod, "Warning", rejection.reason, rejection.message);
    metrics.rejected(rejection.reason);
    this.#rejection = rejection;
    this.#end({ failure: rejection });
  }

  /** One step. Returns how long to wait for the next one without events. */
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
      this.#parts.log.warn("pod sync failed; retrying", { pod, state: this.#state, waitMs, error });
      return waitMs;
    } finally {
      this.#step = undefined;
      step[Symbol.dispose]();
    }
  }

  async #next(signal: AbortSignal): Promise<number> {
    switch (this.#state) {
      case "syncing":
        return this.#timed(this.#syncKind, () => this.#sync(signal));
      case "terminating":
        return this.#timed("kill", () => this.#terminate(signal));
      case "terminated":
        return this.#cleanUp(signal);
      case "gone":
        return 0;
    }
  }

  async #timed<T>(kind: SyncKind, step: () => Promise<T>): Promise<T> {
    const { clock, metrics } = this.#parts;
    const startMs = clock.monotonic();
    if (kind === "create") metrics.started(this.#pod);
    this.#syncKind = "sync";
    try {
      return await step();
    } finally {
      metrics.synced(kind, (clock.monotonic() - startMs) / 1000);
    }
  }

  async #sync(signal: AbortSignal): Promise<number> {
    const pod = this.#pod;
    const report = (status: core.PodStatus) => {
      this.#status.set(pod, status);
      this.#parts.metrics.reported(pod, status);
    };
    const result = await this.#trace.during(pod, () => syncPod(this.#parts, pod, this.#memory, report, signal));
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
    await this.#report(runtime);
    await this.#reportWhile(killPod(parts, pod, runtime, graceSeconds, signal), runtime, signal);
    const after = await lookAtPod(parts.runtime, this.uid, signal);
    if (isRunning(after)) throw new Error("containers still run after they were stopped");
    await Promise.all([
      this.#report(after),
      parts.devices.release(this.uid, signal),
      parts.topology?.release(this.uid),
    ]);
    this.#state = "terminated";
    parts.probes.forget(this.uid);
    return 0;
  }

  /** While containers stop, only their readiness is reported: the rest follows when all of them have exited. */
  async #reportWhile(killing: Promise<unknown>, runtime: RuntimePod, signal: AbortSignal): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
      this.poke();
    };
    killing.then(over, over);
    while (!isOver) {
      this.#isDue = false;
      await this.#wait(Number.POSITIVE_INFINITY, signal);
      if (isOver || signal.aborted) break;
      await this.#report(runtime);
    }
    await killing;
  }

  async #cleanUp(signal: AbortSignal): Promise<number> {
    const { parts, pod } = { parts: this.#parts, pod: this.#pod };
    await parts.volumes.unmount(this.uid, signal);
    await parts.cgroups.remove(this.uid);
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (!isDeleted && !this.#isRemoved) {
      // Reported already, but the runtime may correct the reason later, for example to OOMKilled.
      if (this.#isFinalReported) await this.#report(await lookAtPod(parts.runtime, this.uid, signal));
      this.#isFinalReported = true;
      return Number.POSITIVE_INFINITY;
    }
    await this.#report(await lookAtPod(parts.runtime, this.uid, signal));
    if (!this.#isRemoved) await this.#status.finish(pod, signal);
    await removeFromNode(parts, pod, signal);
    this.#state = "gone";
    return 0;
  }

  async #report(runtime: RuntimePod): Promise<void> {
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
    this.#step?.abort(new Error("the pod is ending"));
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
