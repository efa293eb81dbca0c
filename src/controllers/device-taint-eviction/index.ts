/**
 * Deletes Pods whose devices have a NoExecute taint that their claims do not tolerate, at once or after
 * tolerationSeconds.
 *
 *     Pods with claims             --► key of a Pod ──► evictionTime ══► condition, then deletion
 *     claims: allocated, reserved  --►                        └···► again when its time is over
 *     ResourceSlices: taints       --►
 *     DeviceTaintRules             --► key of a rule ──► planRuleStatus ══► its condition
 *
 * 1. Rules act only with the gate DRADeviceTaintRules.
 * 2. Times count from the taint's timeAdded, so a restart does not extend them.
 */
import { equalJson, formatTime, instantOf, type Json, kinds, optional, type resource } from "#api";
import { whenAborted } from "#base";
import { objectKey, type RecordedEvent } from "#client";
import { isEnding, isFinished, type Pod as PodObject } from "../pods/index.ts";
import { defineController, type Enqueue, keysFrom, type Plan } from "../runtime/index.ts";
import { evictionTime, poolKey, selects, type TaintsOf, taintsBy, taintsIn } from "./device-taints.ts";
import { planRuleStatus, RULE_PERIOD_MS, type RuleFacts } from "./rule-status.ts";

const RULE = "rule ";

export interface DeviceTaintEvictionOptions {
  /** The gate DRADeviceTaintRules. */
  readonly rules: boolean;
}

export const deviceTaintEvictionControllerWith = ({ rules: followsRules }: DeviceTaintEvictionOptions) =>
  defineController({
    name: "device-taint-eviction-controller",
    account: "device-taint-eviction-controller",
    reportsAs: "device-taint-eviction",
    gates: ["DRADeviceTaints"],
    needs: followsRules ? [optional.DeviceTaintRule] : [],
    bind({ cache }) {
      const pods = cache(kinds.Pod);
      const claims = cache(kinds.ResourceClaim);
      const slices = cache(kinds.ResourceSlice);
      const rules = followsRules ? cache(optional.DeviceTaintRule) : undefined;
      const ruleKeys = () => (rules?.list() ?? []).map(({ metadata }) => RULE + metadata.name);
      /** Pods that went because of a rule, by its uid. */
      const evicted = new Map<string, number>();
      let enqueue: Enqueue | undefined;
      const slicesOf = slices.index("pool", ({ spec }) => [poolKey({ driver: spec.driver, pool: spec.pool.name })]);
      const claimsFrom = claims.index("pool", ({ status }) => [
        ...new Set((status?.allocation?.devices?.results ?? []).map(poolKey)),
      ]);
      const claimsOf = claims.index("reservedFor", (claim) => podsOf(claim).map(({ uid }) => uid));
      /** Until when Pods may stay, by key. */
      const waiting = new Map<string, PodObject>();
      const keysOf = (claim: resource.ResourceClaim) =>
        podsOf(claim).map(({ name }) => `${claim.metadata.namespace}/${name}`);

      const usersOf = (now: RuleFacts["now"]): RuleFacts => {
        const all = claims.list();
        const keys = new Set(all.flatMap((claim) => (claim.status?.allocation === undefined ? [] : keysOf(claim))));
        const users = [...keys].flatMap((key) => {
          const pod = pods.get(key);
          if (pod === undefined || !mayGo(pod)) return [];
          return [{ namespace: pod.metadata.namespace ?? "", claims: claimsOf(pod.metadata.uid ?? "") }];
        });
        return { users, slices: slices.list(), claims: all, evicted: 0, now };
      };
      const rulesSource = keysFrom(optional.DeviceTaintRule, ({ type, object, old }) => {
        if (type === "deleted") evicted.delete(object.metadata.uid ?? "");
        if (type === "updated" && same(object.spec, old?.spec)) return [];
        const changed = [object, ...(old === undefined ? [] : [old])];
        const users = claims
          .list()
          .filter(({ status }) =>
            status?.allocation?.devices?.results?.some((result) => changed.some((rule) => selects(rule, result))),
          );
        return [...new Set(users.flatMap(keysOf)), ...(type === "deleted" ? [] : [RULE + object.metadata.name])];
      });

      return {
        sources: [
          keysFrom(kinds.Pod, ({ type, object, old }) => {
            const isGoing = type === "deleted" || (type === "updated" && isEnding(object) && !isEnding(old));
            if ((type === "updated" && !isGoing) || claimsOf(object.metadata.uid ?? "").length === 0) return [];
            return [objectKey(object), ...(isGoing ? ruleKeys() : [])];
          }),
          keysFrom(kinds.ResourceClaim, ({ object, old }) => {
            if (old !== undefined && same(object.status, old.status)) return [];
            return [
              ...new Set([object, old].flatMap((claim) => (claim === undefined ? [] : keysOf(claim)))),
              ...ruleKeys(),
            ];
          }),
          keysFrom(kinds.ResourceSlice, ({ object, old }) => {
            if (old !== undefined && same(taintsOfSlice(object), taintsOfSlice(old))) return [];
            const pool = poolKey({ driver: object.spec.driver, pool: object.spec.pool.name });
            return [...new Set(claimsFrom(pool).flatMap(keysOf))];
          }),
          ...(followsRules ? [rulesSource] : []),
        ],
        run: (signal, toQueue) =>
          new Promise((resolve) => {
            enqueue = toQueue;
            whenAborted(signal, resolve);
          }),
        reconcile(key, now): Plan | undefined {
          if (key.startsWith(RULE)) {
            const rule = rules?.get(key.slice(RULE.length));
            const count = evicted.get(rule?.metadata.uid ?? "") ?? 0;
            return rule && planRuleStatus(rule, { ...usersOf(now), evicted: count });
          }
          const pod = pods.get(key);
          const waited = waiting.get(key);
          waiting.delete(key);
          if (pod === undefined || !mayGo(pod)) return undefined;
          const own = claimsOf(pod.metadata.uid ?? "");
          const added = rules?.list() ?? [];
          const taintsOf: TaintsOf = (result) => [
            ...taintsIn(slicesOf(poolKey(result)), result),
            ...taintsBy(added, result),
          ];
          const untilMs = evictionTime(own, taintsOf, now);
          if (untilMs === undefined)
            return waited?.metadata.uid === pod.metadata.uid
              ? { events: [event(pod, "Cancelling deletion")] }
              : undefined;
          if (untilMs > now) {
            waiting.set(key, pod);
            return { againAfterMs: untilMs - now };
          }
          return planEviction(pod, now, () => {
            for (const rule of added) {
              const at = evictionTime(own, (result) => taintsBy([rule], result), now);
              const { uid = "" } = rule.metadata;
              if (at !== undefined && at <= now) {
                evicted.set(uid, (evicted.get(uid) ?? 0) + 1);
                enqueue?.(RULE + rule.metadata.name, RULE_PERIOD_MS);
              }
            }
          });
        },
      };
    },
  });

function podsOf({ status }: resource.ResourceClaim): readonly resource.ResourceClaimConsumerReference[] {
  return (status?.reservedFor ?? []).filter(({ apiGroup = "", resource: kind }) => apiGroup === "" && kind === "pods");
}

function taintsOfSlice({ spec }: resource.ResourceSlice): unknown {
  return [spec.pool.generation, (spec.devices ?? []).map(({ name, taints = [] }) => [name, taints])];
}

function same(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}

/** Whether the Pod is on a node, and neither over nor about to go. */
function mayGo(pod: PodObject): boolean {
  return !isEnding(pod) && !isFinished(pod) && (pod.spec?.nodeName ?? "") !== "";
}

function planEviction(pod: PodObject, now: number, onEvicted: () => void): Plan {
  const { generation, uid = "" } = pod.metadata;
  const mark = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByDeviceTaintManager",
    message: "Device Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: formatTime(instantOf(now)),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  const patch = { metadata: { uid }, status: { conditions: [mark] } };
  const isMarked = pod.status?.conditions?.some(({ reason }) => reason === mark.reason);
  return {
    steps: [
      isMarked ? [] : [{ verb: "patch", resource: kinds.Pod, object: pod, subresource: "status", patch }],
      [{ verb: "delete", resource: kinds.Pod, object: pod }],
    ],
    eventFor: ({ verb }, { ok }) => {
      if (verb !== "delete" || !ok) return undefined;
      onEvicted();
      return event(pod, "Marking for deletion");
    },
  };
}

function event(about: PodObject, note: string): RecordedEvent {
  return { about, type: "Normal", reason: "DeviceTaintManagerEviction", note };
}
