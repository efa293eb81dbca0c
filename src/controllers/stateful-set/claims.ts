/**
 * The claims of a StatefulSet's Pods, and their owner references, through which the garbage collector applies the
 * retention policy.
 *
 *     whenDeleted: Delete    the set owns the claims of wanted Pods
 *     whenScaled: Delete     a condemned Pod owns its claims
 *     Retain                 no owner
 *
 * 1. A claim with a controller is not changed.
 * 2. A claim that will be deleted with its former Pod is not reused: its name has to become free first.
 */
import { type core, equalJson, type Json, kinds } from "#api";
import { isEnding, type Pod } from "../pods/index.ts";
import { ownedBy, type Write } from "../runtime/index.ts";
import { claimName, isWanted, KIND, nameOf, type StatefulSet } from "./identity.ts";

export type Claim = core.PersistentVolumeClaim;
type Reference = NonNullable<Claim["metadata"]["ownerReferences"]>[number];

const POD = { apiVersion: "v1", kind: "Pod" };

/** The claims for an ordinal. */
export function claimsFor(set: StatefulSet, ordinal: number): readonly Claim[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => {
    const name = claimName(set, nameOf(template), ordinal);
    const { labels, annotations, finalizers } = template.metadata;
    const owners = ownersFor(set, undefined, ordinal, []);
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name,
        namespace: set.metadata.namespace ?? "",
        labels: { ...labels, ...set.spec?.selector.matchLabels },
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ...(owners.length > 0 && { ownerReferences: owners }),
      },
      ...(template.spec && { spec: template.spec }),
    };
  });
}

/** Missing claims, and claims that are being deleted. */
export interface ClaimNeeds {
  readonly missing: readonly Claim[];
  readonly ending: readonly Claim[];
}

export type FindClaim = (claim: Claim) => Claim | undefined;

export function claimNeeds(set: StatefulSet, ordinal: number, find: FindClaim): ClaimNeeds {
  const claims = claimsFor(set, ordinal);
  return {
    missing: claims.filter((claim) => find(claim) === undefined),
    ending: claims.map(find).filter((claim): claim is Claim => claim !== undefined && isEnding(claim)),
  };
}

/** Whether a claim will be deleted with a former Pod of this name. */
export function isStale(set: StatefulSet, ordinal: number, podName: string, find: FindClaim): boolean {
  if (policyOf(set).whenScaled !== "Delete") return false;
  return claimsFor(set, ordinal).some((claim) =>
    find(claim)?.metadata.ownerReferences?.some((owner) => owner.kind === "Pod" && owner.name === podName),
  );
}

/** Updates owner references that do not match the policy. */
export function ownerWrites(set: StatefulSet, pod: Pod, ordinal: number, find: FindClaim): readonly Write[] {
  return claimsFor(set, ordinal).flatMap((each) => {
    const claim = find(each);
    if (claim === undefined || isEnding(claim)) return [];
    const { ownerReferences: now = [], ...metadata } = claim.metadata;
    const wanted = ownersFor(set, pod, ordinal, now);
    if (equalJson(now as unknown as Json, wanted as unknown as Json)) return [];
    const object: Claim = {
      ...claim,
      metadata: { ...metadata, ...(wanted.length > 0 && { ownerReferences: wanted }) },
    };
    return [{ verb: "update", resource: kinds.PersistentVolumeClaim, object } as const];
  });
}

function ownersFor(
  set: StatefulSet,
  pod: Pod | undefined,
  ordinal: number,
  now: readonly Reference[],
): readonly Reference[] {
  const isOurs = ({ kind, name }: Reference) =>
    (kind === "StatefulSet" && name === nameOf(set)) || (kind === "Pod" && pod !== undefined && name === nameOf(pod));
  const others = now.filter((owner) => !isOurs(owner));
  if (others.some(({ controller }) => controller === true)) return others;
  const { whenDeleted, whenScaled } = policyOf(set);
  if (!isWanted(set, ordinal) && whenScaled === "Delete" && pod !== undefined) return [...others, ownedBy(pod, POD)];
  if (whenDeleted === "Delete" && (isWanted(set, ordinal) || whenScaled !== "Delete"))
    return [...others, ownedBy(set, KIND)];
  return others;
}

function policyOf({ spec }: StatefulSet) {
  const { whenDeleted = "Retain", whenScaled = "Retain" } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}
