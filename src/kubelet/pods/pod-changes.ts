/** Which changes of a Pod its worker acts on, and what is left of a Pod once it is gone. */
import { type core, writeJson } from "#api";
import type { PodParts } from "./parts.ts";
import { lookAtPod } from "./runtime-pod.ts";

/** Whether a change needs a sync: of the spec, the metadata or a readiness gate. */
export function needsSync(before: core.Pod, after: core.Pod): boolean {
  const relevant = ({ metadata, spec, status }: core.Pod) => {
    const { generation, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
    const gates = (spec?.readinessGates ?? []).map(({ conditionType }) =>
      status?.conditions?.find(({ type }) => type === conditionType),
    );
    const own = generation === undefined ? spec : generation;
    return { own, labels, annotations, deletionTimestamp, deletionGracePeriodSeconds, gates };
  };
  return writeJson(relevant(before)) !== writeJson(relevant(after));
}

/** Removes containers, sandboxes and files of a Pod that is gone from the API. */
export async function removeFromNode(parts: PodParts, pod: core.Pod, signal: AbortSignal): Promise<void> {
  const { uid = "" } = pod.metadata;
  const runtime = await lookAtPod(parts.runtime, uid, signal);
  for (const { id } of runtime.containers) await parts.runtime.removeContainer(id, signal);
  for (const { id } of runtime.sandboxes) {
    await parts.runtime.stopPodSandbox(id, signal);
    await parts.runtime.removePodSandbox(id, signal);
  }
  await parts.files.removePod(uid);
  parts.users?.release(uid);
  await parts.files.removeLogs(uid);
}
