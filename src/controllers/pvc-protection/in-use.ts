/** Whether a Pod holds a claim. */
import type { core } from "#api";
import { controllerOf } from "../runtime/index.ts";

/**
 * A Pod without a node holds nothing: no node lets it start with a claim that is being deleted. A claim that was made for a Pod is its own, if
 * that is its owner, until the Pod's node is done with it.
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
