/** The ResourceClaims of a Pod, or why it cannot be scheduled with them. The words are those of kube-scheduler. */
import type { core, resource } from "#api";

export type Claim = resource.ResourceClaim;

export const FINALIZER = "resource.kubernetes.io/delete-protection";
/** The most consumers of a claim that the API accepts. */
export const MAX_RESERVED = 256;

export type PodClaims = { readonly claims: readonly Claim[] } | { readonly fault: string };

/** `claim`: by `namespace/name`. */
export function podClaims(pod: core.Pod, claim: (key: string) => Claim | undefined): PodClaims {
  const { namespace = "", name: podName } = pod.metadata;
  const claims: Claim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    let name = entry.resourceClaimName;
    const isMade = name === undefined;
    if (isMade) {
      const recorded = pod.status?.resourceClaimStatuses?.find((each) => each.name === entry.name);
      if (recorded === undefined) return { fault: `pod "${namespace}/${podName}": ResourceClaim not created yet` };
      name = recorded.resourceClaimName;
    }
    // A template may say that no claim is needed.
    if (name === undefined) continue;
    const found = claim(`${namespace}/${name}`);
    if (found === undefined) return { fault: `could not find ResourceClaim "${namespace}/${name}"` };
    if (found.metadata.deletionTimestamp !== undefined) return { fault: `resourceclaim "${name}" is being deleted` };
    if (isMade && !isOwnedBy(pod, found))
      return {
        fault: `ResourceClaim ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`,
      };
    claims.push(found);
  }
  return { claims };
}

/** `namespace/name` of the claims that are known by name. */
export function claimKeys({ metadata, spec, status }: core.Pod): readonly string[] {
  return (spec?.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => {
    const made = () => status?.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName;
    const found = resourceClaimName ?? made();
    return found === undefined ? [] : [`${metadata.namespace}/${found}`];
  });
}

export function isOwnedBy({ metadata }: core.Pod, claim: Claim): boolean {
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner !== undefined && owner.uid === metadata.uid;
}

export function isReservedFor(uid: string, { status }: Claim): boolean {
  return status?.reservedFor?.some((consumer) => consumer.uid === uid) ?? false;
}

export function claimText({ metadata }: Claim): string {
  return `${metadata.namespace}/${metadata.name}`;
}
