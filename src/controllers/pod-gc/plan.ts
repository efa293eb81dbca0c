/**
 * Deletes Pods that no kubelet takes care of: each is marked as failed, if it has not finished, and deleted at once.
 *
 *     finished, beyond the threshold                   evicted ones first, then the oldest
 *     terminating, without a node                      no kubelet would finish it
 *     terminating, on a node that is out of service    its kubelet will not finish it
 *     its node no longer exists                        the same, with the condition DisruptionTarget
 */
import { type core, formatTime, instantOf, type JsonObject, kinds } from "#api";
import { isEnding, isFinished, type Pod } from "../pods/index.ts";
import type { Plan } from "../runtime/index.ts";

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

export function planTerminated(finished: readonly Pod[], threshold: number): Plan {
  const surplus = finished.length - threshold;
  if (surplus <= 0) return {};
  const first = [...finished].sort(byEvictionAndAge).slice(0, surplus);
  const deletes = first.filter((pod) => !isEnding(pod)).map((object) => deletionOf(object));
  return { steps: [deletes] };
}

/** Whether a terminating Pod waits for a kubelet that will not respond. */
export function isForsaken(pod: Pod, node: core.Node | undefined): boolean {
  if (!isEnding(pod)) return false;
  if ((pod.spec?.nodeName ?? "") === "") return true;
  return node !== undefined && isOutOfService(node);
}

export function planEnd(pod: Pod): Plan {
  return end(pod, {});
}

export function planOrphan(pod: Pod, now: number): Plan {
  const { generation } = pod.metadata;
  const condition: JsonObject = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByPodGC",
    message: "PodGC: node no longer exists",
    lastTransitionTime: formatTime(instantOf(now)),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
  return end(pod, { conditions: [condition] });
}

function end(pod: Pod, change: JsonObject): Plan {
  const { uid = "", generation } = pod.metadata;
  const status = { phase: "Failed", ...(generation !== undefined && { observedGeneration: generation }), ...change };
  const patch = { metadata: { uid }, status };
  return {
    steps: [
      isFinished(pod) ? [] : [{ verb: "patch", resource: kinds.Pod, object: pod, subresource: "status", patch }],
      // A Pod that only waits for its finalizers is not deleted again.
      isEnding(pod) && pod.metadata.deletionGracePeriodSeconds === 0 ? [] : [deletionOf(pod)],
    ],
  };
}

function deletionOf(object: Pod) {
  return { verb: "delete", resource: kinds.Pod, object, gracePeriodSeconds: 0 } as const;
}

export function isOutOfService({ spec, status }: core.Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
  return !ready && (spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}

function byEvictionAndAge(a: Pod, b: Pod): number {
  const [first, second] = [isEvicted(a), isEvicted(b)];
  if (first !== second) return first ? -1 : 1;
  const [made, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  if (made !== other) return made < other ? -1 : 1;
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

function isEvicted({ status }: Pod): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}
