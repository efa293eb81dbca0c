/**
 * Deletes Pods whose devices have a NoExecute taint that their claims do not tolerate, at once or after
 * tolerationSeconds.
 *
 *     Pods with claims             --► key of a Pod ──► evictionTime ══► condition, then deletion
 *     claims: allocated, reserved  --►                        └···► again when its time is over
 *     ResourceSlices: taints       --►
 *
 * 1. Times count from the taint's timeAdded, so a restart does not extend them.
 */
import { equalJson, formatTime, instantOf, type Json, kinds, type resource } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { isEnding, isFinished, type Pod as PodObject } from "../pods/index.ts";
import { defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { evictionTime, poolKey, taintsIn } from "./device-taints.ts";

export const deviceTaintEvictionController = defineController({
  name: "device-taint-eviction-controller",
  account: "device-taint-eviction-controller",
  reportsAs: "device-taint-eviction",
  gates: ["DRADeviceTaints"],
  bind({ cache }) {
    const pods = cache(kinds.Pod);
    const claims = cache(kinds.ResourceClaim);
    const slices = cache(kinds.ResourceSlice);
    const slicesOf = slices.index("pool", ({ spec }) => [poolKey({ driver: spec.driver, pool: spec.pool.name })]);
    const claimsFrom = claims.index("pool", ({ status }) => [
      ...new Set((status?.allocation?.devices?.results ?? []).map(poolKey)),
    ]);
    const claimsOf = claims.index("reservedFor", (claim) => podsOf(claim).map(({ uid }) => uid));
    /** Until when Pods may stay, by key. */
    const waiting = new Map<string, PodObject>();
    const keysOf = (claim: resource.ResourceClaim) =>
      podsOf(claim).map(({ name }) => `${claim.metadata.namespace}/${name}`);

    return {
      sources: [
        keysFrom(kinds.Pod, ({ type, object }) =>
          type === "updated" || claimsOf(object.metadata.uid ?? "").length === 0 ? [] : [objectKey(object)],
        ),
        keysFrom(kinds.ResourceClaim, ({ object, old }) => {
          if (old !== undefined && same(object.status, old.status)) return [];
          return [...new Set([object, old].flatMap((claim) => (claim === undefined ? [] : keysOf(claim))))];
        }),
        keysFrom(kinds.ResourceSlice, ({ object, old }) => {
          if (old !== undefined && same(taintsOf(object), taintsOf(old))) return [];
          const pool = poolKey({ driver: object.spec.driver, pool: object.spec.pool.name });
          return [...new Set(claimsFrom(pool).flatMap(keysOf))];
        }),
      ],
      reconcile(key, now): Plan | undefined {
        const pod = pods.get(key);
        const waited = waiting.get(key);
        waiting.delete(key);
        if (pod === undefined || isEnding(pod) || isFinished(pod) || (pod.spec?.nodeName ?? "") === "")
          return undefined;
        const own = claimsOf(pod.metadata.uid ?? "");
        const untilMs = evictionTime(own, (result) => taintsIn(slicesOf(poolKey(result)), result), now);
        if (untilMs === undefined)
          return waited?.metadata.uid === pod.metadata.uid
            ? { events: [event(pod, "Cancelling deletion")] }
            : undefined;
        if (untilMs > now) {
          waiting.set(key, pod);
          return { againAfterMs: untilMs - now };
        }
        return planEviction(pod, now);
      },
    };
  },
});

function podsOf({ status }: resource.ResourceClaim): readonly resource.ResourceClaimConsumerReference[] {
  return (status?.reservedFor ?? []).filter(({ apiGroup = "", resource: kind }) => apiGroup === "" && kind === "pods");
}

function taintsOf({ spec }: resource.ResourceSlice): unknown {
  return [spec.pool.generation, (spec.devices ?? []).map(({ name, taints = [] }) => [name, taints])];
}

function same(a: unknown, b: unknown): boolean {
  return equalJson((a ?? null) as Json, (b ?? null) as Json);
}

function planEviction(pod: PodObject, now: number): Plan {
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
    eventFor: ({ verb }, { ok }) => (verb === "delete" && ok ? event(pod, "Marking for deletion") : undefined),
  };
}

function event(about: PodObject, note: string): RecordedEvent {
  return { about, type: "Normal", reason: "DeviceTaintManagerEviction", note };
}
