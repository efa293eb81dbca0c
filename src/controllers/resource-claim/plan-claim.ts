/**
 * What becomes of a claim when Pods are done with it.
 *
 *     reserved for a Pod that is done       no longer; with the last one, its devices are free for others
 *     to go, and nobody has it              its devices are free, then its finalizer lets it go
 *     made for a Pod that is done           deleted
 *
 * 1. What was never reserved stays allocated: whoever allocated it may be about to reserve it.
 * 2. The status is written only if nobody has changed the claim meanwhile.
 */
import { kinds, type resource } from "#api";
import { isEnding, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import { type Claim, isDone, ownerPod } from "./pod-claims.ts";

const FINALIZER = "resource.kubernetes.io/delete-protection";

/** `valid`: those that it is reserved for and that may still need it. `owner`: the Pod by the name of the one that it was made for. */
export function planClaim(
  claim: Claim,
  valid: readonly resource.ResourceClaimConsumerReference[],
  owner: Pod | undefined,
): Plan {
  const isUnused = valid.length === 0;
  const [first, ...rest] = [...released(claim, valid), ...(isUnused && isOver(claim, owner) ? [deletion(claim)] : [])];
  return { steps: first === undefined ? [] : [[first], rest] };
}

function released(claim: Claim, valid: readonly resource.ResourceClaimConsumerReference[]): readonly Write[] {
  const { reservedFor = [], allocation, devices } = claim.status ?? {};
  const isUnused = valid.length === 0;
  const isHeld = claim.metadata.finalizers?.includes(FINALIZER) ?? false;
  const isAllocated = allocation !== undefined;
  const frees = isUnused && isHeld && (valid.length < reservedFor.length || isEnding(claim));
  if (valid.length < reservedFor.length || (frees && isAllocated)) {
    // Devices report for as long as they are allocated.
    const status = {
      ...(isAllocated && !frees && { allocation }),
      ...(devices !== undefined && !frees && { devices }),
      ...(valid.length > 0 && { reservedFor: valid }),
    };
    const object: Claim = { ...claim, status };
    return [{ verb: "updateStatus", resource: kinds.ResourceClaim, object }];
  }
  return frees ? [withoutFinalizer(claim)] : [];
}

function withoutFinalizer(claim: Claim): Write {
  const finalizers = claim.metadata.finalizers?.filter((each) => each !== FINALIZER) ?? [];
  const object: Claim = { ...claim, metadata: { ...claim.metadata, finalizers } };
  return { verb: "update", resource: kinds.ResourceClaim, object };
}

function isOver(claim: Claim, owner: Pod | undefined): boolean {
  const made = ownerPod(claim);
  if (made === undefined || owner === undefined || isEnding(claim)) return false;
  return owner.metadata.uid !== made.uid || isDone(owner);
}

function deletion(object: Claim): Write {
  return { verb: "delete", resource: kinds.ResourceClaim, object };
}
