/**
 * The next writes for a claim when Pods have finished.
 *
 *     reserved for a finished Pod           remove the reservation; after the last one, deallocate
 *     terminating and unreserved            deallocate, then remove the finalizer
 *     created for a finished Pod            delete
 *
 * 1. A claim that was never reserved stays allocated: the allocator may be about to reserve it.
 * 2. The status is written with a precondition on resourceVersion.
 */
import { kinds, type resource } from "#api";
import { isEnding, type Pod } from "../pods/index.ts";
import type { Plan, Write } from "../runtime/index.ts";
import { type Claim, isDone, ownerPod } from "./pod-claims.ts";

const FINALIZER = "resource.kubernetes.io/delete-protection";

/** `valid`: reservations of Pods that may still need the claim. `owner`: the Pod with the name of the claim's owner. */
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
    // Device status is removed with the allocation.
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
