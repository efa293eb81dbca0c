/**
 * Making room, beside the attempts.
 *
 * 1. A pod that has victims under way is not tried until the last of them is on its way out.
 * 2. Victims are told why (DisruptionTarget), deleted gracefully, and an event says for whom.
 */
import { isStatusError } from "#api";
import type { PluginContext, PodInfo } from "../../framework/index.ts";
import { Pod } from "../../kinds.ts";
import { patchStatus } from "../../cycle/pod-status.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

interface UnderWay {
  last: PodInfo | undefined;
}

export class Evictions {
  readonly #context: PluginContext;
  readonly #underWay = new Map<string, UnderWay>();

  constructor(context: PluginContext) {
    this.#context = context;
  }

  isUnderWay(uid: string): boolean {
    const underWay = this.#underWay.get(uid);
    if (underWay === undefined) return false;
    if (underWay.last === undefined) return true;
    const last = this.#context.informers.of(Pod).cache.get(underWay.last.key);
    return last !== undefined && last.metadata.uid === underWay.last.uid && last.metadata.deletionTimestamp === undefined;
  }

  begin({ node, victims }: Candidate, pod: PodInfo): void {
    const { view, beside, metrics } = this.#context;
    metrics.preemptionVictims.labels().observe(victims.length);
    const left = victims.filter(({ terminating }) => !terminating);
    if (left.length === 0) return;
    const underWay: UnderWay = { last: undefined };
    this.#underWay.set(pod.uid, underWay);
    const demoted = view.nominatedTo(node.name).filter(({ priority }) => priority < pod.priority);
    beside(`making room for ${pod.key}`, async () => {
      try {
        await this.#run(underWay, left, demoted, pod, node.name);
      } finally {
        this.#underWay.delete(pod.uid);
        this.#context.ungate(pod.uid);
      }
    });
  }

  async #run(
    underWay: UnderWay,
    victims: readonly PodInfo[],
    demoted: readonly PodInfo[],
    pod: PodInfo,
    node: string,
  ): Promise<void> {
    const { client, clock, signal } = this.#context;
    try {
      // They may no longer fit there, and should look for another place soon.
      await Promise.all(demoted.map((each) => patchStatus(client, clock, each, { nominatedNodeName: "" }, signal)));
      await Promise.all(victims.slice(0, -1).map((victim) => this.#evict(victim, pod, node)));
      underWay.last = victims.at(-1);
      if (underWay.last !== undefined) await this.#evict(underWay.last, pod, node);
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
