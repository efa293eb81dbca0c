/**
 * Making room, beside the attempts.
 *
 * 1. A pod is not tried again until the cache shows that all its victims are gone, or on their way out.
 * 2. The victims of a pod are asked to go all at once, and many pods may make room at once; but no more victims go at a time than an API server that is
 *    fair to others lets wait: who is turned away has to wait for a second.
 * 3. It is woken by the end of its last victim, at once: nobody else is asked.
 * 4. Victims are told why (DisruptionTarget), deleted gracefully, and an event says for whom. Those that are not bound yet only go back to the queue.
 */
import { type core, isStatusError, kinds } from "#api";
import { LruMap } from "#base";
import { revisionOf } from "#client";
import { Works } from "#flows";
import { type PluginContext, type PodInfo, patchStatus } from "../../framework/index.ts";
import { Turns } from "./turns.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

/** Pods that are gone before they are tried again leave an entry behind: the oldest are evicted. */
const MAX_UNDER_WAY = 10_000;

const VICTIMS_AT_ONCE = 96;

export class Evictions {
  readonly #context: PluginContext;
  readonly #works = new Works("scheduler");
  readonly #turns = new Turns(VICTIMS_AT_ONCE);
  /** The victims of each pod that makes room. */
  readonly #underWay = new LruMap<string, readonly PodInfo[]>(MAX_UNDER_WAY, (_, victims) => this.#release(victims));
  /** For whom a victim goes, by uid. */
  readonly #beneficiaries = new Map<string, string>();

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

  /** The victims that are still there, as they are now. */
  #left(uid: string): readonly core.Pod["metadata"][] {
    const pods = this.#context.informers.of(kinds.Pod).cache;
    return (this.#underWay.get(uid) ?? []).flatMap(({ key, uid: victim }) => {
      const metadata = pods.get(key)?.metadata;
      return metadata?.uid === victim ? [metadata] : [];
    });
  }

  #gone(victim: string): void {
    const uid = this.#beneficiaries.get(victim);
    if (uid === undefined) return;
    this.#beneficiaries.delete(victim);
    const left = this.#left(uid);
    const isLeaving = left.every(({ deletionTimestamp }) => deletionTimestamp !== undefined);
    // Those whose end is a matter of milliseconds are waited for; who takes longer may find that others were faster.
    if (left.length > 0 && (!isLeaving || left.every(isVanishing))) return;
    this.#forget(uid);
    this.#context.wake(uid);
  }

  #forget(uid: string): void {
    this.#release(this.#underWay.get(uid) ?? []);
    this.#underWay.delete(uid);
  }

  #release(victims: readonly PodInfo[]): void {
    for (const { uid } of victims) this.#beneficiaries.delete(uid);
  }

  begin({ node, victims }: Candidate, pod: PodInfo): void {
    const { view, beside, metrics } = this.#context;
    metrics.preemptionVictims.labels().observe(victims.length);
    const left = victims.filter(({ terminating }) => !terminating);
    if (left.length === 0) return;
    this.#underWay.set(pod.uid, left);
    for (const victim of left) this.#beneficiaries.set(victim.uid, pod.uid);
    const demoted = view.nominatedTo(node.name).filter(({ priority }) => priority < pod.priority);
    beside(`making room for ${pod.key}`, () => this.#run(left, demoted, pod, node.name));
  }

  async #run(victims: readonly PodInfo[], demoted: readonly PodInfo[], pod: PodInfo, node: string): Promise<void> {
    const { client, clock, signal } = this.#context;
    try {
      // They may no longer fit there, and should look for another place soon.
      for (const each of demoted) await patchStatus(client, clock, each, { nominatedNodeName: "" }, signal);
      await Promise.all(victims.map((victim) => this.#turns.run(() => this.#evict(victim, pod, node))));
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
          woken: [revisionOf(pod.pod)],
          startedAt: clock.now(),
          decided: `preempt ${victim.key} on ${node}, to make room for ${pod.key}`,
        });
        await client.of(kinds.Pod).in(namespace).delete(name, { preconditions: { uid }, signal, cause });
      } catch (error) {
        // Somebody was faster.
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

  /** It was not there yet, and does not come: nobody waits for its end. */
  #spared(victim: string): void {
    const uid = this.#beneficiaries.get(victim) ?? "";
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
