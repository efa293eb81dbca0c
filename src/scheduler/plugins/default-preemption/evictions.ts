/**
 * Evicts the victims of preemptions, in the background.
 *
 * 1. The preemptor is gated until the cache shows that all of its victims are deleted or terminating.
 * 2. Victims are evicted concurrently, up to a limit: priority and fairness rejects clients with too many requests, and
 *    a rejected request has to wait for a second.
 * 3. The preemptor is activated when its last victim is gone.
 * 4. A victim gets the condition DisruptionTarget, is deleted gracefully, and an Event names the preemptor. Victims
 *    that are not bound yet return to the queue instead.
 */
import { type core, isStatusError, kinds } from "#api";
import { LruMap } from "#base";
import { revisionOf } from "#client";
import { Works } from "#flows";
import { type PluginContext, type PodInfo, patchStatus } from "../../framework/index.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

/** Pods that are gone before they are tried again leave an entry behind: the oldest are evicted. */
const MAX_UNDER_WAY = 10_000;

const VICTIMS_AT_ONCE = 96;

export class Evictions {
  readonly #context: PluginContext;
  readonly #works = new Works("scheduler");
  readonly #limit = new ConcurrencyLimit(VICTIMS_AT_ONCE);
  /** Victims by preemptor. */
  readonly #underWay = new LruMap<string, readonly PodInfo[]>(MAX_UNDER_WAY, (_, victims) => this.#release(victims));
  /** The preemptor of each victim, by uid. */
  readonly #preemptors = new Map<string, string>();

  constructor(context: PluginContext) {
    this.#context = context;
    context.informers.of(kinds.Pod).onChange(({ type, object }) => {
      if (type === "deleted") this.#gone(object.metadata.uid ?? "");
    });
  }

  isUnderWay(uid: string): boolean {
    if (!this.#underWay.has(uid)) return false;
    if (this.#left(uid).some(({ deletionTimestamp }) => deletionTimestamp === undefined)) return true;
    this.#forget(uid);
    return false;
  }

  /** The present state of the victims that still exist. */
  #left(uid: string): readonly core.Pod["metadata"][] {
    const pods = this.#context.informers.of(kinds.Pod).cache;
    return (this.#underWay.get(uid) ?? []).flatMap(({ key, uid: victim }) => {
      const metadata = pods.get(key)?.metadata;
      return metadata?.uid === victim ? [metadata] : [];
    });
  }

  #gone(victim: string): void {
    const uid = this.#preemptors.get(victim);
    if (uid === undefined) return;
    this.#preemptors.delete(victim);
    const left = this.#left(uid);
    const isLeaving = left.every(({ deletionTimestamp }) => deletionTimestamp !== undefined);
    // Waits only for victims that vanish within milliseconds: otherwise the preemptor may try other nodes.
    if (left.length > 0 && (!isLeaving || left.every(isVanishing))) return;
    this.#forget(uid);
    this.#context.wake(uid);
  }

  #forget(uid: string): void {
    this.#release(this.#underWay.get(uid) ?? []);
    this.#underWay.delete(uid);
  }

  #release(victims: readonly PodInfo[]): void {
    for (const { uid } of victims) this.#preemptors.delete(uid);
  }

  begin({ node, victims }: Candidate, pod: PodInfo): void {
    const { view, runInBackground, metrics } = this.#context;
    metrics.preemptionVictims.labels().observe(victims.length);
    const left = victims.filter(({ terminating }) => !terminating);
    if (left.length === 0) return;
    this.#underWay.set(pod.uid, left);
    for (const victim of left) this.#preemptors.set(victim.uid, pod.uid);
    const demoted = view.nominatedTo(node.name).filter(({ priority }) => priority < pod.priority);
    runInBackground(`preemption for ${pod.key}`, () => this.#run(left, demoted, pod, node.name));
  }

  async #run(victims: readonly PodInfo[], demoted: readonly PodInfo[], pod: PodInfo, node: string): Promise<void> {
    const { client, clock, signal } = this.#context;
    try {
      // Lower-priority pods nominated to this node may no longer fit there.
      for (const each of demoted) await patchStatus(client, clock, each, { nominatedNodeName: "" }, signal);
      await Promise.all(victims.map((victim) => this.#limit.run(() => this.#evict(victim, pod, node))));
    } catch (error) {
      this.#forget(pod.uid);
      this.#context.wake(pod.uid);
      throw error;
    }
  }

  async #evict(victim: PodInfo, pod: PodInfo, node: string): Promise<void> {
    const { client, clock, events, signal, waiting } = this.#context;
    const { namespace, name, uid } = victim;
    const stopped = waiting.preempt(uid, NAME);
    if (stopped === undefined) {
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${pod.pod.spec?.schedulerName ?? ""}: preempting to accommodate a higher priority pod`,
      } as const;
      await patchStatus(client, clock, victim, { condition }, signal);
      try {
        const cause = this.#works.cause({
          about: pod.key,
          resource: "pods",
          woken: [revisionOf(pod.pod)],
          startedAt: clock.now(),
          // Without the victim's name: who may see this Pod need not see that one.
          decided: `preempt a Pod of lower priority on ${node}`,
        });
        await client.of(kinds.Pod).in(namespace).delete(name, { preconditions: { uid }, signal, cause });
      } catch (error) {
        // It is deleted already.
        if (isStatusError(error) && ["NotFound", "Conflict"].includes(error.reason)) return;
        throw error;
      }
    }
    events.record({
      about: victim.pod,
      related: pod.pod,
      type: "Normal",
      reason: "Preempted",
      action: "Preempting",
      note: `Preempted by pod ${pod.uid} on node ${node}`,
    });
    if (stopped === undefined) return;
    await stopped;
    this.#spared(uid);
  }

  /** A victim whose binding was stopped is not deleted: nothing waits for its end. */
  #spared(victim: string): void {
    const uid = this.#preemptors.get(victim) ?? "";
    const victims = this.#underWay.get(uid);
    if (victims !== undefined) {
      this.#underWay.set(
        uid,
        victims.filter((each) => each.uid !== victim),
      );
    }
    this.#gone(victim);
  }
}

function isVanishing({ deletionGracePeriodSeconds, finalizers = [] }: core.Pod["metadata"]): boolean {
  return deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}
