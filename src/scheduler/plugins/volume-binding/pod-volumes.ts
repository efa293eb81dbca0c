/**
 * A Pod's claims, divided into bound and delayed ones.
 *
 * 1. A bound claim needs a node from which its volume is accessible.
 * 2. A claim with WaitForFirstConsumer is bound when the scheduler chooses a node. A claim with spec.volumeName is not:
 *    like all others, it should be bound already.
 */
import type { PodInfo } from "../../framework/index.ts";
import {
  type Claim,
  claimNotFound,
  claimUses,
  classOfClaim,
  isBound,
  isControlledBy,
  type VolumeObjects,
} from "../volume-objects.ts";

export interface PodVolumes {
  readonly bound: readonly Claim[];
  /** To be bound when a node is chosen. */
  readonly delayed: readonly Claim[];
}

/** `fault`: why no node can fit. */
export type PodVolumesOrFault = PodVolumes | { readonly fault: string };

export function podVolumes({ pod }: PodInfo, objects: VolumeObjects): PodVolumesOrFault {
  const bound: Claim[] = [];
  const delayed: Claim[] = [];
  let waiting = false;
  for (const { name, key, ephemeral } of claimUses(pod)) {
    const claim = objects.claim(key);
    const fault = faultOf(name, claim, ephemeral);
    if (claim === undefined || fault !== undefined) return { fault: fault ?? claimNotFound(name) };
    if (ephemeral && !isControlledBy(claim, pod)) {
      const { namespace } = pod.metadata;
      return {
        fault: `PVC ${key} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
      };
    }
    if (isBound(claim)) bound.push(claim);
    else if (isDelayed(claim, objects)) delayed.push(claim);
    else waiting = true;
  }
  return waiting ? { fault: "pod has unbound immediate PersistentVolumeClaims" } : { bound, delayed };
}

function faultOf(name: string, claim: Claim | undefined, ephemeral: boolean): string | undefined {
  if (claim === undefined)
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : claimNotFound(name);
  if (claim.status?.phase === "Lost")
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ""}"`;
  return claim.metadata.deletionTimestamp === undefined
    ? undefined
    : `persistentvolumeclaim "${name}" is being deleted`;
}

function isDelayed(claim: Claim, objects: VolumeObjects): boolean {
  const storageClass = objects.storageClass(classOfClaim(claim));
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer" && (claim.spec?.volumeName ?? "") === "";
}
