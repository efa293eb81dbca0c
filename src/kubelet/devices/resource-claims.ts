/**
 * Whether a Pod may start with the devices that it claims. Pure.
 *
 * A node has no drivers of devices yet: a Pod whose claims are in order waits for the driver that its claim names. It
 * does not start without its devices.
 */
import type { core, resource } from "#api";

type Claim = resource.ResourceClaim;

/** A claim that the Pod names, and what the API has of it. */
export interface NamedClaim {
  readonly name: string;
  /** It was created for this Pod from a template. */
  readonly isMade: boolean;
}

/** The claims by name; for an entry whose claim was not created yet, the reason. */
export function claimsOf({ metadata, spec, status }: core.Pod): readonly NamedClaim[] | string {
  const named: NamedClaim[] = [];
  for (const { name, resourceClaimName } of spec?.resourceClaims ?? []) {
    if (resourceClaimName !== undefined) {
      named.push({ name: resourceClaimName, isMade: false });
      continue;
    }
    const recorded = status?.resourceClaimStatuses?.find((each) => each.name === name);
    if (recorded === undefined)
      return `pod "${metadata.namespace}/${metadata.name}": pod claim ${name}: ResourceClaim not created yet`;
    // A template may say that no claim is needed.
    if (recorded.resourceClaimName !== undefined) named.push({ name: recorded.resourceClaimName, isMade: true });
  }
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended !== undefined) named.push({ name: extended, isMade: true });
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
  if (claim.status.allocation === undefined) return `ResourceClaim ${name}: not allocated`;
  const [result] = claim.status.allocation.devices?.results ?? [];
  return result && `DRA driver ${result.driver} is not registered`;
}
