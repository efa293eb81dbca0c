/**
 * DynamicResources: finds devices for the ResourceClaims of a Pod, and reserves them.
 *
 *     prepare: the Pod's claims ──► check: devices on a node ──► reserve: pending ──► preBind ══► status of the claims
 *                                                                    └ the Pod fails: unreserve
 *
 * 1. Pods without claims cost nothing but the question.
 * 2. Checking a node has no side effects: the devices of the chosen node are searched once more in reserve.
 * 3. A rejection is final for the node as it is: evicting Pods does not free devices at once, their claims do.
 */
import { durationMs, kinds, type resource } from "#api";
import { isAbort, uuidSource } from "#base";
import {
  definePlugin,
  MAX_SCORE,
  PASS,
  type PluginFactory,
  type PodInfo,
  type PostFiltered,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
} from "../../framework/index.ts";
import { allocationOf } from "./allocation-result.ts";
import { bindClaim, deallocate, removeReservation } from "./bind-claims.ts";
import { hasBindingConditions, untilReady } from "./binding-conditions.ts";
import { deviceFeatures } from "./device-features.ts";
import { Devices } from "./devices.ts";
import { isExtendedClaim } from "./extended-resources.ts";
import { type Claim, claimKeys, claimText, isReservedFor, podClaims } from "./pod-claims.ts";
import { backedResources, type PodState, podStateOf } from "./pod-state.ts";
import { wakesOf } from "./wakes.ts";
import { deleteExtended, writeExtended } from "./write-extended-claim.ts";

const NAME = "DynamicResources";

export const dynamicResources: PluginFactory = {
  name: NAME,
  gate: "DynamicResourceAllocation",
  make({ DynamicResources: args }, context) {
    const { client, informers, resources, clock, random, log, events, signal: ending } = context;
    const rejections = rejectionsOf(NAME);
    const features = deviceFeatures(context.enabled);
    const devices = new Devices(informers, { clock, features, filterTimeoutMs: durationMs(args.filterTimeout) });
    const bindingTimeoutMs = durationMs(args.bindingTimeout);
    const claim = (key: string) => devices.claims.get(key);
    const writer = { client, clock, random, isTimed: features.bindingConditions };
    const newShareId = uuidSource();
    /** For postFilter, which is called in the same attempt. */
    const states = new WeakMap<PodInfo, PodState>();

    return definePlugin<PodState, PodState>({
      name: NAME,
      wakes: wakesOf(claim, features),
      wakeKeys: ({ pod }) => claimKeys(pod),
      preEnqueue({ pod }) {
        if (!hasClaims(pod)) return PASS;
        const found = podClaims(pod, claim);
        return "fault" in found ? rejections.unresolvable(found.fault) : PASS;
      },
      filter: {
        reads: "cluster",
        prepare(pod, view) {
          const isBacked = backedResources(pod.pod, devices).length > 0;
          if (!hasClaims(pod.pod) && !isBacked) return SKIP;
          // The devices of an earlier attempt may be elsewhere: they are given back first, in postFilter.
          if (isBacked && devices.claims.extendedOf(pod.uid) !== undefined)
            return rejected(rejections.unresolvable("cannot schedule extended resource claim"));
          const indexOf = (name: string) => resources.indexOf(name);
          const options = { bindingTimeoutMs, nowMs: clock.now(), temporaryUid: newShareId, indexOf };
          const state = podStateOf(pod, view, devices, rejections, options);
          if ("fault" in state) return rejected(rejections.unresolvable(state.fault));
          if (state.claims.length === 0 && !isBacked) return SKIP;
          states.set(pod, state);
          return ready(state);
        },
        check: (state, node) => state.check(node).verdict,
        sweep: (state, open) => state.sweep(open),
      },
      postFilter({ pod }, signal) {
        const stale = backedResources(pod.pod, devices).length > 0 ? devices.claims.extendedOf(pod.uid) : undefined;
        if (stale !== undefined) return deleted(stale, signal);
        const state = states.get(pod);
        const idle = [...(state?.unavailable ?? [])].filter((each) => isIdle(pod.uid, each));
        if (idle.length > 0) return freed(random.pick(idle), signal);
        return state === undefined ? NOTHING_TO_FREE : STILL_UNSCHEDULABLE;
      },
      score: {
        reads: "cluster",
        prepare(pod) {
          const state = states.get(pod);
          return state?.isPrioritized === true ? ready(state) : SKIP;
        },
        of: (state, node) => state.scoreOf(node),
        normalize(_state, scores, { indexes, count }) {
          let highest = 0;
          for (let at = 0; at < count; at++) highest = Math.max(highest, scores[indexes[at] ?? 0] ?? 0);
          if (highest === 0) return;
          for (let at = 0; at < count; at++) {
            const index = indexes[at] ?? 0;
            scores[index] = Math.trunc(((scores[index] ?? 0) * MAX_SCORE) / highest);
          }
        },
      },
      reserve(state, _pod, node) {
        const all = state?.wantedOn(node) ?? [];
        if (state === undefined || all.length === 0) return PASS;
        const solution = state.search(node);
        if (typeof solution === "string") throw new Error("claim allocation not found for node");
        for (const [i, wanted] of all.entries()) {
          if (isExtendedClaim(wanted.claim)) state.extended = { claim: wanted.claim, mappings: state.mappingsOn(node) };
          const allocation = allocationOf(wanted, solution[i] ?? [], node.name, newShareId, features);
          state.allocations.set(wanted.claim.metadata.uid ?? "", allocation);
          devices.claims.reserve(wanted.claim, allocation);
        }
        return PASS;
      },
      unreserve(state, { pod }) {
        if (state?.extended !== undefined) {
          const { claim: temporary, written } = state.extended;
          devices.claims.release(temporary);
          state.extended = undefined;
          if (written !== undefined)
            context.runInBackground(`deleting ResourceClaim ${claimText(written)}`, () =>
              deleteExtended(written, writer, ending),
            );
        }
        for (const each of state?.claims ?? []) {
          devices.claims.release(each);
          state?.allocations.delete(each.metadata.uid ?? "");
          const now = state?.bound.get(each.metadata.uid ?? "") ?? each;
          if (now.status?.allocation === undefined || !isReservedFor(pod.metadata.uid ?? "", now)) continue;
          context.runInBackground(`unreserving ${pod.metadata.namespace}/${pod.metadata.name}`, () =>
            removeReservation(now, pod, writer, ending),
          );
        }
      },
      needsPreBind: (state) => state !== undefined,
      async preBind(state, { pod, uid }, node, signal) {
        if (state === undefined) return PASS;
        for (const each of state.claims) {
          if (isReservedFor(uid, each)) continue;
          const bound = await written(state, each, pod, signal);
          state.bound.set(each.metadata.uid ?? "", bound);
        }
        const { extended } = state;
        if (extended !== undefined) {
          const allocation = state.allocations.get(extended.claim.metadata.uid ?? "");
          await writeExtended(extended, { pod, allocation, claims: devices.claims, writer }, signal);
        }
        const own = state.claims.map((each) => state.bound.get(each.metadata.uid ?? "") ?? each);
        const bound = extended?.written === undefined ? own : [...own, extended.written];
        if (!features.bindingConditions || !bound.some(hasBindingConditions)) return PASS;
        events.record({
          about: pod,
          type: "Normal",
          reason: "BindingConditionsPending",
          action: "Scheduling",
          note: `waiting for binding conditions for device on node ${node}`,
        });
        await untilReady(bound, { claim, informers, clock, timeoutMs: bindingTimeoutMs }, signal);
        return PASS;
      },
    });

    async function written(state: PodState, each: Claim, pod: PodInfo["pod"], signal: AbortSignal): Promise<Claim> {
      const allocation: resource.AllocationResult | undefined = state.allocations.get(each.metadata.uid ?? "");
      try {
        const bound = await bindClaim(each, allocation, pod, writer, signal);
        devices.claims.wrote(bound);
        return bound;
      } catch (error) {
        if (allocation !== undefined && !isAbort(error, signal)) await settleWith(each, signal);
        throw error;
      }
    }

    /** A write whose response was lost may have succeeded: what the server has decides. */
    async function settleWith(each: Claim, signal: AbortSignal): Promise<void> {
      const { namespace = "", name = "" } = each.metadata;
      try {
        devices.claims.wrote(await client.of(kinds.ResourceClaim).in(namespace).get(name, { signal }));
      } catch (error) {
        log.debug("a claim could not be read after a failed write", { claim: `${namespace}/${name}`, error });
      }
    }

    async function deleted(stale: Claim, signal: AbortSignal): Promise<PostFiltered> {
      await deleteExtended(stale, writer, signal);
      return refusal("deletion of ResourceClaim completed");
    }

    /** Frees a claim whose devices are out of reach, or do not become ready. */
    async function freed(idle: Claim, signal: AbortSignal): Promise<PostFiltered> {
      await deallocate(idle, writer, signal);
      return refusal("deallocation of ResourceClaim completed");
    }
  },
};

function refusal(message: string): PostFiltered {
  return { kind: "rejected", clears: false, message };
}

const NOTHING_TO_FREE = refusal("no new claims to deallocate");
const STILL_UNSCHEDULABLE = refusal("still not schedulable");

/** Whether nobody but the Pod has reserved the claim. */
function isIdle(uid: string, { status }: Claim): boolean {
  return (status?.reservedFor ?? []).every((consumer) => consumer.uid === uid);
}

function hasClaims({ spec }: PodInfo["pod"]): boolean {
  return spec?.resourceClaims !== undefined && spec.resourceClaims.length > 0;
}
