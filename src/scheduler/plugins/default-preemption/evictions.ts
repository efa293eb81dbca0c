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
import { type Group, type PluginContext, type PodInfo, patchStatus, publishCondition } from "../../framework/index.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import type { Unit } from "./units.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

/** Pods that are gone before they are tried again leave an entry behind: the oldest are evicted. */
const MAX_UNDER_WAY = 10_000;

const VICTIMS_AT_ONCE = 96;

export interface Victim {
  readonly pod: PodInfo;
  readonly node: string;
}

export interface GroupRoom {
  readonly units: readonly Unit[];
  readonly nodes: readonly string[];
  readonly priority: number;
}

interface Eviction extends GroupRoom {
  /** Who needs the room: the first one is woken when all victims are gone. */
  readonly pods: readonly PodInfo[];
  readonly victims: readonly Victim[];
  /** For Events. */
  readonly by: string;
}

export class Evictions {
  readonly #context: PluginContext;
  readonly #works = new Works("scheduler");
  readonly #limit = new ConcurrencyLimit(VICTIMS_AT_ONCE);
  /** Victims by preemptor. */
  readonly #underWay = new LruMap<string, readonly PodInfo[]>(MAX_UNDER_WAY, (_, victims) => this.#release(victims));
  /** Groups among the preemptors, by the Pod that is woken for them. */
  readonly #wholes = new Set<string>();
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
    // A group needs the places of all of them.
    if (left.length > 0 && this.#wholes.has(uid)) return;
    const isLeaving = left.every(({ deletionTimestamp }) => deletionTimestamp !== undefined);
    // Waits only for victims that vanish within milliseconds: otherwise the preemptor may try other nodes.
    if (left.length > 0 && (!isLeaving || left.every(isVanishing))) return;
    this.#forget(uid);
    this.#context.wake(uid);
  }

  #forget(uid: string): void {
    this.#release(this.#underWay.get(uid) ?? []);
    this.#underWay.delete(uid);
    this.#wholes.delete(uid);
  }

  #release(victims: readonly PodInfo[]): void {
    for (const { uid } of victims) this.#preemptors.delete(uid);
  }

  /** `units`: the victims, with all Pods of groups that are evicted whole. */
  begin({ node }: Candidate, units: readonly Unit[], pod: PodInfo): void {
    const victims = units.flatMap(({ pods }) => pods).map((each) => ({ pod: each, node: node.name }));
    this.#begin({ pods: [pod], victims, units, nodes: [node.name], by: `pod ${pod.uid}`, priority: pod.priority });
  }

  /** The Pods of a group wait for the same victims. `nodes`: where they will be. */
  beginForGroup(group: Group, pods: readonly PodInfo[], victims: readonly Victim[], found: GroupRoom): void {
    const by = `podgroup ${group.object?.metadata.uid ?? ""}`;
    this.#begin({ pods, victims, by, ...found });
  }

  #begin({ pods, victims, units, nodes, by, priority }: Eviction): void {
    const { view, runInBackground, metrics } = this.#context;
    metrics.preemptionVictims.labels().observe(victims.length);
    const left = victims.filter(({ pod: { terminating } }) => !terminating);
    const [first] = pods;
    if (left.length === 0 || first === undefined) return;
    const gone = left.map(({ pod }) => pod);
    const own = new Set(pods.map(({ uid }) => uid));
    for (const uid of own) this.#underWay.set(uid, gone);
    if (own.size > 1) this.#wholes.add(first.uid);
    for (const { uid } of gone) this.#preemptors.set(uid, first.uid);
    const demoted = nodes
      .flatMap((node) => view.nominatedTo(node))
      .filter((each) => each.priority < priority && !own.has(each.uid));
    for (const unit of units) this.#tellGroup(unit, first);
    runInBackground(`preemption for ${first.key}`, () => this.#run(left, demoted, first, by));
  }

  /** A group that is evicted whole has a condition that says so. */
  #tellGroup({ group: key }: Unit, pod: PodInfo): void {
    const group = key === undefined ? undefined : this.#context.groups?.named(key);
    if (group !== undefined) publishCondition(this.#context, group, targeted(pod));
  }

  async #run(victims: readonly Victim[], demoted: readonly PodInfo[], pod: PodInfo, by: string): Promise<void> {
    const { client, clock, signal } = this.#context;
    try {
      // Lower-priority pods nominated to these nodes may no longer fit there.
      for (const each of demoted) await patchStatus(client, clock, each, { nominatedNodeName: "" }, signal);
      await Promise.all(
        victims.map(({ pod: victim, node }) => this.#limit.run(() => this.#evict(victim, pod, node, by))),
      );
    } catch (error) {
      this.#forget(pod.uid);
      this.#context.wake(pod.uid);
      throw error;
    }
  }

  async #evict(victim: PodInfo, pod: PodInfo, node: string, by: string): Promise<void> {
    const { client, clock, events, signal, waiting } = this.#context;
    const { namespace, name, uid } = victim;
    const stopped = waiting.preempt(uid, NAME);
    if (stopped === undefined) {
      await patchStatus(client, clock, victim, { condition: targeted(pod) }, signal);
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
      note: `Preempted by ${by} on node ${node}`,
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

function targeted({ pod }: PodInfo) {
  return {
    type: "DisruptionTarget",
    status: "True",
    reason: "PreemptionByScheduler",
    message: `${pod.spec?.schedulerName ?? ""}: preempting to accommodate a higher priority pod`,
  } as const;
}

function isVanishing({ deletionGracePeriodSeconds, finalizers = [] }: core.Pod["metadata"]): boolean {
  return deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}
