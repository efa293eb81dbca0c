/**
 * Deletes Pods that do not tolerate a NoExecute taint of their node, at once or after tolerationSeconds.
 *
 *     Pods placed, their tolerations --► key of a Pod ──► fateOf ══► condition, then deletion
 *     taints of Nodes                --►                       └···► again when its time is over
 *
 * 1. Scheduled deletions are kept in memory, so that a wait is not extended, and its cancellation is reported.
 */
import { equalJson, type Json, kinds } from "#api";
import { objectKey } from "#client";
import { isEnding, type Pod as PodObject, podsByNode } from "../pods/index.ts";
import { defineController, keysFrom } from "../runtime/index.ts";
import { fateOf, planCalledOff, planEviction } from "./plan.ts";
import { noExecuteTaints } from "./tolerations.ts";

interface Leaving {
  readonly pod: PodObject;
  readonly untilMs: number;
  /** Its time is over: only the deletion is left. */
  readonly over: boolean;
}

export const taintEvictionController = defineController({
  name: "taint-eviction-controller",
  account: "node-controller",
  bind({ cache }) {
    const pods = cache(kinds.Pod);
    const nodes = cache(kinds.Node);
    const podsOn = podsByNode(pods);
    const leaving = new Map<string, Leaving>();
    const isTainted = ({ spec }: PodObject) => noExecuteTaints(nodes.get(spec?.nodeName ?? "")).length > 0;

    return {
      sources: [
        keysFrom(kinds.Pod, ({ type, object, old }) => {
          const key = objectKey(object);
          if (type === "updated" && samePlace(object, old)) return [];
          return leaving.has(key) || (type !== "deleted" && isTainted(object)) ? [key] : [];
        }),
        keysFrom(kinds.Node, ({ type, object, old }) => {
          const [before, after] = [old ? noExecuteTaints(old) : [], type === "deleted" ? [] : noExecuteTaints(object)];
          if (same(before, after)) return [];
          return podsOn(object.metadata.name ?? "").map(objectKey);
        }),
      ],
      reconcile(key, now) {
        const pod = pods.get(key);
        const before = leaving.get(key);
        const known = before?.pod.metadata.uid === pod?.metadata.uid ? before : undefined;
        leaving.delete(key);
        if (pod === undefined) return before && !before.over ? planCalledOff(before.pod) : undefined;
        if (isEnding(pod)) return undefined;
        const fate = fateOf(pod, noExecuteTaints(nodes.get(pod.spec?.nodeName ?? "")), known?.untilMs, now);
        if (fate.kind === "stays") return known && planCalledOff(pod);
        const over = fate.kind === "goes";
        const untilMs = over ? now : fate.untilMs;
        leaving.set(key, { pod, untilMs, over });
        return over ? planEviction(pod, now) : { againAfterMs: untilMs - now };
      },
    };
  },
});

function samePlace({ spec }: PodObject, { spec: old }: PodObject): boolean {
  return spec?.nodeName === old?.nodeName && same(spec?.tolerations ?? [], old?.tolerations ?? []);
}

function same(a: unknown, b: unknown): boolean {
  return equalJson(a as Json, b as Json);
}
