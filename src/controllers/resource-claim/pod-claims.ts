/** The claims of a Pod, and which of them were created for it. */
import type { core, resource } from "#api";
import { isEnding, isFinished, type Pod } from "../pods/index.ts";
import { controllerOf } from "../runtime/index.ts";

export type Claim = resource.ResourceClaim;

/** On a claim that was created for a Pod: the name of the Pod's entry. */
export const POD_CLAIM = "resource.kubernetes.io/pod-claim-name";

export type ClaimName =
  | { readonly kind: "named"; readonly name: string; readonly made: boolean }
  /** No claim is needed. */
  | { readonly kind: "none" }
  | { readonly kind: "missing" };

export function claimNameOf({ status }: Pod, entry: core.PodResourceClaim): ClaimName {
  if (entry.resourceClaimName !== undefined) return { kind: "named", name: entry.resourceClaimName, made: false };
  const recorded = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (recorded === undefined) return { kind: "missing" };
  const { resourceClaimName } = recorded;
  return resourceClaimName === undefined ? { kind: "none" } : { kind: "named", name: resourceClaimName, made: true };
}

/** `namespace/name` of the Pod's claims. */
export function claimKeysOf(pod: Pod): readonly string[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const found = claimNameOf(pod, entry);
    return found.kind === "named" ? [`${pod.metadata.namespace}/${found.name}`] : [];
  });
}

export function isFor(pod: Pod, claim: Claim): boolean {
  return pod.metadata.namespace === claim.metadata.namespace && controllerOf(claim)?.uid === pod.metadata.uid;
}

export function ownerPod(claim: Claim): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(claim);
  return owner?.apiVersion === "v1" && owner.kind === "Pod" ? owner : undefined;
}

/** Whether it is certain that no container runs or will run. */
export function isDone(pod: Pod): boolean {
  return isFinished(pod) || (isEnding(pod) && (pod.spec?.nodeName ?? "") === "");
}

export function podsOf({ status }: Claim): readonly resource.ResourceClaimConsumerReference[] {
  return (status?.reservedFor ?? []).filter(isPod);
}

export function isPod({ apiGroup = "", resource }: resource.ResourceClaimConsumerReference): boolean {
  return apiGroup === "" && resource === "pods";
}
