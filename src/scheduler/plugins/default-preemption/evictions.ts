/**
 * Making room, beside the attempts.
 *
 * 1. A pod is not tried again until the cache shows that all its victims are gone, or on their way out.
 * 2. One request at a time for each pod: many pods may make room at once.
 * 3. Victims are told why (DisruptionTarget), deleted gracefully, and an event says for whom.
 */
import { isStatusError } from "#api";
import { patchStatus } from "../../cycle/pod-status.ts";
import type { PluginContext, PodInfo } from "../../framework/index.ts";
import { Pod } from "../../kinds.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

/** Pods that are gone before they were tried again leave something behind; not for ever. */
const REMEMBERED = 10_000;

export class Evictions {
  readonly #context: PluginContext;
  /** The victims of each pod that makes room. */
  readonly #underWay = new Map<string, readonly PodInfo[]>();

  constructor(context: PluginContext) {
    this.#context = context;
  }

  isUnderWay(uid: string): boolean {
    const victims = this.#underWay.get(uid) ?? [];
    const pods = this.#context.informers.of(Pod).cache;
    const isThere = ({ key, uid: victim }: PodInfo) => {
      const metadata = pods.get(key)?.metadata;
      return metadata?.uid === victim && metadata.deletionTimestamp === undefined;
    };
    if (victims.some(isThere)) return true;
    this.#underWay.delete(uid);
    return false;
  }

  isVictimOf(uid: string, victim: string | undefined): boolean {
    return this.#underWay.get(uid)?.some((each) => each.uid === victim) ?? false;
  }

  begin({ node, victims }: Candidate, pod: PodInfo): void {
    const { view, beside, metrics } = this.#context;
    metrics.preemptionVictims.labels().observe(victims.length);
    const left = victims.filter(({ terminating }) => !terminating);
    if (left.length === 0) return;
    const [oldest] = this.#underWay.keys();
    if (this.#underWay.size >= REMEMBERED && oldest !== undefined) this.#underWay.delete(oldest);
    this.#underWay.set(pod.uid, left);
    const demoted = view.nominatedTo(node.name).filter(({ priority }) => priority < pod.priority);
    beside(`making room for ${pod.key}`, () => this.#run(left, demoted, pod, node.name));
  }

  async #run(victims: readonly PodInfo[], demoted: readonly PodInfo[], pod: PodInfo, node: string): Promise<void> {
    const { client, clock, signal } = this.#context;
    try {
      // They may no longer fit there, and should look for another place soon.
      for (const each of demoted) await patchStatus(client, clock, each, { nominatedNodeName: "" }, signal);
      for (const victim of victims) await this.#evict(victim, pod, node);
    } catch (error) {
      this.#underWay.delete(pod.uid);
      this.#context.wake(pod.uid);
      throw error;
    }
  }

  async #evict(victim: PodInfo, pod: PodInfo, node: string): Promise<void> {
    const { client, clock, events, signal, waiting } = this.#context;
    const { namespace, name, uid } = victim;
    if (!waiting.reject(uid, NAME, "preempted")) {
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        message: `${pod.pod.spec?.schedulerName ?? ""}: preempting to accommodate a higher priority pod`,
      } as const;
      await patchStatus(client, clock, victim, { condition }, signal);
      try {
        await client.of(Pod).in(namespace).delete(name, { preconditions: { uid }, signal });
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
  }
}
