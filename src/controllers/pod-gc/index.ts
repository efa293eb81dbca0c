/**
 * Deletes Pods that no kubelet takes care of: see the plan.
 *
 *     Pods, Nodes --► pod …        a terminating Pod
 *                 --► terminated   all finished Pods
 *                 ···► orphan …    a Pod whose node is missing, after a delay: nodes may appear late
 *
 * A node counts as deleted only if the API server itself says so.
 */
import { isStatusError, kinds } from "#api";
import { type Client, objectKey } from "#client";
import { isEnding, isFinished, type Pod as PodObject, podsByNode } from "../pods/index.ts";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import { isForsaken, isOutOfService, planEnd, planOrphan, planTerminated } from "./plan.ts";

/** How many finished Pods are kept. */
const TERMINATED = 12_500;
const QUARANTINE_MS = 40_000;

const POD = "pod ";
const ORPHAN = "orphan ";

export interface PodGarbageCollectorOptions {
  /** `--terminated-pod-gc-threshold`; 0: all are kept. */
  readonly terminatedPodThreshold?: number | undefined;
}

export function podGarbageCollector({
  terminatedPodThreshold = TERMINATED,
}: PodGarbageCollectorOptions = {}): Controller {
  return defineController({
    name: "pod-garbage-collector-controller",
    account: "pod-garbage-collector",
    bind({ cache, client, informers }) {
      const pods = cache(kinds.Pod);
      const nodes = cache(kinds.Node);
      const podsOn = podsByNode(pods);
      const finished = pods.index("finished", (pod) => (isFinished(pod) ? ["yes"] : []));
      const nodeOf = ({ spec }: PodObject) => nodes.get(spec?.nodeName ?? "");
      const isOrphan = ({ spec }: PodObject) =>
        (spec?.nodeName ?? "") !== "" && nodes.get(spec?.nodeName ?? "") === undefined;

      return {
        sources: [
          keysFrom(kinds.Pod, ({ type, object, old }) => {
            if (type === "deleted") return [];
            const ended = terminatedPodThreshold > 0 && isFinished(object) && (old === undefined || !isFinished(old));
            return [...(ended ? ["terminated"] : []), ...(isEnding(object) ? [POD + objectKey(object)] : [])];
          }),
          keysFrom(kinds.Node, ({ object }) => {
            if (!isOutOfService(object)) return [];
            const ending = podsOn(object.metadata.name ?? "").filter(isEnding);
            return ending.map((pod) => POD + objectKey(pod));
          }),
        ],
        async reconcile(key, now, signal) {
          if (key === "terminated") return planTerminated(finished("yes"), terminatedPodThreshold);
          const pod = pods.get(key.replace(/^\w+ /, ""));
          if (pod === undefined) return undefined;
          if (key.startsWith(POD)) return isForsaken(pod, nodeOf(pod)) ? planEnd(pod) : undefined;
          const { nodeName = "" } = pod.spec ?? {};
          return isOrphan(pod) && (await isGone(client, nodeName, signal)) ? planOrphan(pod, now) : undefined;
        },
        async run(signal, enqueue) {
          const quarantine = (pod: PodObject) => enqueue(ORPHAN + objectKey(pod), QUARANTINE_MS);
          const leave = [
            informers.of(kinds.Pod).onChange(({ type, object }) => {
              if (type !== "deleted" && isOrphan(object)) quarantine(object);
            }),
            informers.of(kinds.Node).onChange(({ type, object }) => {
              if (type === "deleted") podsOn(object.metadata.name ?? "").forEach(quarantine);
            }),
          ];
          try {
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          } finally {
            for (const each of leave) each();
          }
        },
      };
    },
  });
}

async function isGone(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.of(kinds.Node).get(name, { signal });
    return false;
  } catch (error) {
    if (isStatusError(error) && error.reason === "NotFound") return true;
    throw error;
  }
}
