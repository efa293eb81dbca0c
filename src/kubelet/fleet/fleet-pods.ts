/**
 * The Pods of one node of a fleet.
 *
 *     watch --► take ──► life ──► queue ···► work: advance ══► PATCH pods/status, DELETE what has stopped
 *                                   ▲                     │
 *                                   └── when next is due ─┘
 *
 * 1. Every change of a Pod is handled in `work`, which never runs twice at once for a Pod: transitions at the same time
 *    are one PATCH.
 * 2. A Pod that the node sees for the first time must fit; one that has a startTime is adopted as it is.
 * 3. A stopped node writes nothing.
 * 4. A Pod with attachable volumes begins when they are attached.
 * 5. A Pod is reported as Pending, later as Running. While many Pods start, one that runs at once is reported only
 *    then.
 */
import { type core, isStatusError, kinds } from "#api";
import { type Clock, isAbort, type Logger, type WorkQueue } from "#base";
import { type Change, type Client, type ResourceClient, revisionOf } from "#client";
import { Works } from "#flows";
import {
  admitPod,
  admitResize,
  allocate,
  askedFor,
  needsRestart,
  rememberedAllocation,
  resizeConditions,
  Usage,
  withAllocation,
} from "../admission/index.ts";
import type { PodFailure } from "../lifecycle/index.ts";
import { isFinal, podStatus, rejectedStatus, statusPatch, statusSummary } from "../pod-status/index.ts";
import { AddressPool, parseRange } from "./addresses.ts";
import { areAttached, attachableVolumes, hasClaims, retryMs, volumesInUse } from "./attached-volumes.ts";
import { isRequestedOtherwise, type PodEntry } from "./pod-entry.ts";
import { PodLife, type PodLifeOptions } from "./pod-life.ts";
import type { RecentStarts } from "./recent-starts.ts";
import { type Defaults, type PodScript, readScript } from "./script.ts";
import type { NodeSettings } from "./settings.ts";
import type { RunningPod } from "./usage.ts";

const MIRROR = "kubernetes.io/config.mirror";
const NO_ADDRESS_MS = 10_000;
const MAX_IMAGES = 50;
/** A start that takes no longer counts as immediate. */
const AT_ONCE_MS = 200;

export interface FleetPodsOptions extends Omit<PodLifeOptions, "script"> {
  readonly settings: NodeSettings;
  readonly client: Client;
  /** The Node as the API server has it. */
  readonly node: () => core.Node;
  readonly defaults: Defaults;
  readonly queue: WorkQueue<PodEntry>;
  /** Shared by all nodes of the fleet. */
  readonly starts: RecentStarts;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the node is stopped. */
  readonly signal: AbortSignal;
  /** The volumes in use have changed. */
  onVolumes(): void;
}

export class FleetPods {
  readonly #options: FleetPodsOptions;
  readonly #pods: ResourceClient<core.Pod>;
  readonly #works: Works;
  readonly #entries = new Map<string, PodEntry>();
  readonly #usage = new Usage();
  readonly #images = new Set<string>();
  #pool: AddressPool;

  constructor(options: FleetPodsOptions) {
    this.#options = options;
    this.#pods = options.client.of(kinds.Pod);
    this.#works = new Works(`kubelet/${options.settings.name}`);
    this.#pool = new AddressPool(options.settings.podRange);
  }

  /** The images of its containers, the latest last. */
  get images(): readonly string[] {
    return [...this.#images].slice(-MAX_IMAGES);
  }

  get volumesInUse(): readonly string[] {
    return volumesInUse(this.#entries.values(), this.#options.node());
  }

  /** The Node has changed: volumes that Pods wait for may be attached. */
  lookAtNode(): void {
    for (const entry of this.#entries.values()) if (entry.life?.isHeld) this.#options.queue.add(entry);
  }

  /** Pods with containers that run now. */
  get running(): readonly RunningPod[] {
    return [...this.#entries.values()].flatMap(({ allocated: pod, life }) => {
      const containers = life?.running ?? [];
      return containers.length === 0 ? [] : [{ pod, containers }];
    });
  }

  take({ type, object }: Change<core.Pod>): void {
    const { queue } = this.#options;
    const { uid = "", annotations = {} } = object.metadata;
    if (MIRROR in annotations) return;
    const entry = this.#entries.get(uid);
    if (type === "deleted") this.#forget(uid);
    else if (entry === undefined) this.#begin(object);
    else {
      const news = revisionOf(object) - revisionOf(entry.pod);
      if (news < 0) return;
      // The watch event of the node's own write is no news, but its object is the one that is shared with other
      // informers.
      entry.pod = object;
      this.#change(entry);
      if (news > 0) queue.add(entry);
    }
  }

  /** Everything that is due for a Pod. */
  async work(entry: PodEntry): Promise<void> {
    const { clock, queue, signal } = this.#options;
    const { uid = "", name = "", namespace = "" } = entry.pod.metadata;
    const isKnown = () => this.#entries.get(uid) === entry && !signal.aborted;
    if (!isKnown()) return;
    const pods = this.#pods.in(namespace);
    try {
      if (entry.volumes === undefined || entry.life?.isHeld) await this.#findVolumes(entry);
      if (!isKnown()) return;
      const now = clock.now();
      const dueMs = entry.life?.advance(now) ?? Number.POSITIVE_INFINITY;
      if (dueMs < Number.POSITIVE_INFINITY) queue.addAfter(entry, dueMs - now);
      if (this.#runsAtOnce(entry, dueMs - now)) return;
      const { generation = 0 } = entry.pod.metadata;
      const isStopping = entry.life?.isStopping ?? false;
      const status = isStopping && entry.stopReportedIn === generation ? undefined : this.#statusOf(entry, now);
      const patch = status && statusPatch(entry.pod, status);
      if (patch !== undefined) {
        const cause = this.#works.cause({
          about: `${namespace}/${name}`,
          resource: "pods",
          woken: [revisionOf(entry.pod)],
          startedAt: now,
          decided: statusSummary(status ?? {}),
        });
        const report = { type: "strategic", object: patch } as const;
        const stored = await pods.subresource(name, "status").patch(report, { signal, cause });
        if (!isKnown()) return;
        if (revisionOf(stored) > revisionOf(entry.pod)) this.#takeAnswer(entry, stored);
      }
      if (isStopping) entry.stopReportedIn = generation;
      if (isFinal(entry.pod.status?.phase)) this.#release(entry);
      const isGone = entry.life?.isGone ?? entry.pod.metadata.deletionTimestamp !== undefined;
      if (!isGone || entry.isDeleteSent) return;
      const cause = this.#works.cause({
        about: `${namespace}/${name}`,
        resource: "pods",
        woken: [revisionOf(entry.pod)],
        startedAt: now,
        decided: "all its containers have stopped",
      });
      await pods.delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal, cause });
      entry.isDeleteSent = true;
    } catch (error) {
      if (isAbort(error, signal)) return;
      // It is gone; the watch event follows.
      if (!isStatusError(error) || error.reason !== "NotFound") throw error;
    }
  }

  /** The answer to a write may bring what others have written before, such as a deletion, ahead of its watch event. */
  #takeAnswer(entry: PodEntry, stored: core.Pod): void {
    const isNews = isRequestedOtherwise(entry.pod, stored);
    entry.pod = stored;
    if (!isNews) return;
    this.#change(entry);
    this.#options.queue.add(entry);
  }

  /** Holds the Pod until its volumes are known and attached. */
  async #findVolumes(entry: PodEntry): Promise<void> {
    const { client, node, queue, signal, onVolumes } = this.#options;
    const { life, pod } = entry;
    if (life === undefined) return;
    if (entry.volumes === undefined) {
      life.isHeld = true;
      entry.volumes = await attachableVolumes(client, pod, signal);
      if (entry.volumes === undefined) queue.addAfter(entry, retryMs(entry.lookups++));
      else if (entry.volumes.length > 0) onVolumes();
    }
    life.isHeld = entry.volumes === undefined || !areAttached(entry.volumes, node());
  }

  #runsAtOnce({ pod, life }: PodEntry, dueInMs: number): boolean {
    if (life === undefined || life.hasSandbox || pod.metadata.deletionTimestamp !== undefined) return false;
    return pod.status?.startTime === undefined && dueInMs <= AT_ONCE_MS && this.#options.starts.areMany;
  }

  #begin(pod: core.Pod): void {
    const { log, defaults, queue } = this.#options;
    const { uid = "", name, namespace } = pod.metadata;
    const entry: PodEntry = {
      owner: this,
      pod,
      allocated: pod,
      pending: undefined,
      life: undefined,
      rejection: undefined,
      address: undefined,
      stopReportedIn: undefined,
      isDeleteSent: false,
      volumes: hasClaims(pod) ? undefined : [],
      lookups: 0,
    };
    this.#entries.set(uid, entry);
    if (isFinal(pod.status?.phase)) {
      if (pod.metadata.deletionTimestamp !== undefined) queue.add(entry);
      return;
    }
    const isNew = pod.status?.startTime === undefined;
    if (isNew) this.#options.starts.add();
    entry.rejection = isNew ? this.#admit(pod) : undefined;
    if (entry.rejection === undefined) {
      if (!isNew) this.#allocate(entry, rememberedAllocation(pod));
      this.#usage.set(entry.allocated);
      const script = readScript(pod, defaults);
      entry.life = this.#lifeOf(entry.allocated, script);
      for (const problem of script.problems) log.warn("annotation ignored", { pod: `${namespace}/${name}`, problem });
      if (pod.status?.podIP !== undefined && pod.spec?.hostNetwork !== true) this.#reserve(entry, pod.status.podIP);
      for (const { image } of pod.spec?.containers ?? []) if (image !== undefined) this.#images.add(image);
    }
    queue.add(entry);
  }

  #lifeOf(pod: core.Pod, script: PodScript): PodLife {
    const { clock, newId, imageID } = this.#options;
    return new PodLife(pod, { script, newId, imageID }, clock.now());
  }

  #admit(pod: core.Pod): PodFailure | undefined {
    const node = this.#options.node();
    const allocatable = this.#allocatable();
    // What its Node declares: nothing, unless somebody simulates nodes that do.
    const { declaredFeatures = [] } = node.status ?? {};
    return admitPod(pod, this.#usage, { node, allocatable, allowedUnsafeSysctls: [], declaredFeatures });
  }

  /** Others may have added extended resources to the Node. */
  #allocatable(): Readonly<Record<string, string>> {
    return { ...this.#options.node().status?.allocatable, ...this.#options.settings.capacity };
  }

  #change(entry: PodEntry): void {
    const { life, pod, allocated: before } = entry;
    const now = this.#options.clock.now();
    entry.allocated = pod;
    if (life === undefined) return;
    if (pod.metadata.generation !== before.metadata.generation || entry.pending !== undefined) {
      const had = askedFor(before);
      this.#allocate(entry, had);
      this.#usage.set(entry.allocated);
      for (const [name, container] of containersOf(entry.allocated))
        if (needsRestart(container, had.get(name) ?? {}, container.resources ?? {})) life.restart(name, now);
    }
    life.update(entry.allocated, now);
  }

  /** Gives the Pod what it asks for if that fits. */
  #allocate(entry: PodEntry, before: ReadonlyMap<string, core.ResourceRequirements>): void {
    const admit = (pod: core.Pod) => admitResize(pod, this.#usage, this.#allocatable());
    const { allocation, pending } = allocate(entry.pod, before, admit);
    entry.allocated = withAllocation(entry.pod, allocation);
    entry.pending = pending;
  }

  #statusOf(entry: PodEntry, now: number): core.PodStatus | undefined {
    const { pod, allocated, rejection, pending } = entry;
    if (rejection !== undefined) return rejectedStatus(pod, rejection, now);
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    // A finished Pod has no life any more, but its deletion still changes observedGeneration.
    const life = entry.life ?? (isDeleted ? this.#lifeOf(pod, readScript(pod, this.#options.defaults)) : undefined);
    if (life === undefined || (life.isGone && !life.hasRun)) return undefined;
    if (entry.life?.hasSandbox && entry.address === undefined && pod.spec?.hostNetwork !== true) this.#address(entry);
    const observed = life.observed(now, {
      hostIPs: [this.#options.settings.address],
      podIPs: entry.address === undefined ? [] : [entry.address],
    });
    const current = { ...allocated, status: pod.status ?? {} };
    return podStatus(current, { ...observed, conditions: resizeConditions(current, { pending }, now) }, now);
  }

  #address(entry: PodEntry): void {
    const { node, log, queue, settings } = this.#options;
    const { podCIDR = "", podCIDRs = [podCIDR] } = node().spec ?? {};
    const own = podCIDRs.map(parseRange).find((range) => range !== undefined);
    const range = own ?? settings.podRange;
    if (range.first !== this.#pool.range.first || range.size !== this.#pool.range.size) {
      this.#pool = new AddressPool(range);
      for (const { address } of this.#entries.values()) if (address !== undefined) this.#pool.reserve(address);
    }
    entry.address = this.#pool.take();
    if (entry.address !== undefined) return;
    log.warn("no address left for a pod", { node: settings.name, pod: entry.pod.metadata.name });
    queue.addAfter(entry, NO_ADDRESS_MS);
  }

  #reserve(entry: PodEntry, address: string): void {
    entry.address = address;
    this.#pool.reserve(address);
  }

  #forget(uid: string): void {
    const entry = this.#entries.get(uid);
    this.#entries.delete(uid);
    if (entry !== undefined) this.#release(entry);
  }

  /** None of its containers runs any more: its resources are free for others, first for pending resizes. */
  #release(entry: PodEntry): void {
    const { queue } = this.#options;
    const hadVolumes = entry.life !== undefined && (entry.volumes?.length ?? 0) > 0;
    entry.life = undefined;
    if (hadVolumes) this.#options.onVolumes();
    if (entry.address !== undefined) this.#pool.release(entry.address);
    entry.address = undefined;
    if (!this.#usage.delete(entry.pod.metadata.uid ?? "")) return;
    for (const other of this.#entries.values()) {
      if (other.pending === undefined) continue;
      this.#change(other);
      queue.add(other);
    }
  }
}

function containersOf({ spec }: core.Pod): readonly (readonly [string, core.Container])[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map((container) => [container.name, container]);
}
