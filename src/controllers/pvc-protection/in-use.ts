/** Whether a Pod uses a claim. */
import type { core } from "#api";
import { controllerOf } from "../runtime/index.ts";

/**
 * A Pod without a node uses nothing: no node starts it with a terminating claim. The claim of an ephemeral volume is in
 * use until the Pod's node is done with the Pod.
 */
export function holds({ metadata, spec }: core.Pod, claim: core.PersistentVolumeClaim): boolean {
  if ((spec?.nodeName ?? "") === "") return false;
  const { name } = claim.metadata;
  return (spec?.volumes ?? []).some(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === name;
    if (ephemeral === undefined || `${metadata.name}-${volume}` !== name) return false;
    const isShutDown = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
    return !isShutDown && controllerOf(claim)?.uid === metadata.uid;
  });
}
