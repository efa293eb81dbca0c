/**
 * The claims of a Pod, and whether the Pod may use them. Pure. The words are those of the kubelet.
 */
import type { core, resource } from "#api";

type Claim = resource.ResourceClaim;

/** A claim that the Pod names, and what the API has of it. */
export interface NamedClaim {
  /** Of the Pod's `resourceClaims`; empty for the claim of extended resources. */
  readonly entry: string;
  readonly name: string;
  /** It was created for this Pod from a template. */
  readonly isMade: boolean;
}

/** The claims by name; for an entry whose claim was not created yet, the reason. */
export function claimsOf({ metadata, spec, status }: core.Pod): readonly NamedClaim[] | string {
  const named: NamedClaim[] = [];
  for (const { name, resourceClaimName } of spec?.resourceClaims ?? []) {
    if (resourceClaimName !== undefined) {
      named.push({ entry: name, name: resourceClaimName, isMade: false });
      continue;
    }
    const recorded = status?.resourceClaimStatuses?.find((each) => each.name === name);
    if (recorded === undefined)
      return `pod "${metadata.namespace}/${metadata.name}": pod claim ${name}: ResourceClaim not created yet`;
    // A template may say that no claim is needed.
    if (recorded.resourceClaimName !== undefined)
      named.push({ entry: name, name: recorded.resourceClaimName, isMade: true });
  }
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended !== undefined) named.push({ entry: "", name: extended, isMade: true });
  return named;
}

/** Why the Pod cannot use the claim. */
export function claimProblem({ metadata }: core.Pod, { name, isMade }: NamedClaim, claim: Claim): string | undefined {
  const { uid } = metadata;
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (isMade && owner?.uid !== uid)
    return `ResourceClaim ${claim.metadata.namespace}/${name} was not created for pod ${metadata.namespace}/${metadata.name} (pod is not owner)`;
  if (claim.status?.reservedFor?.some((consumer) => consumer.uid === uid) !== true)
    return `pod ${metadata.name} (${uid}) is not allowed to use ResourceClaim ${name} (${claim.metadata.uid})`;
  return claim.status.allocation === undefined ? `ResourceClaim ${name}: not allocated` : undefined;
}
