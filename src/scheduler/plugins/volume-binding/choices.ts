/**
 * The volumes that a claim could be bound to, computed once for a Pod and independent of nodes.
 *
 * 1. A volume that is reserved for the claim is the only choice. Otherwise all available volumes that satisfy the claim
 *    are, smallest first.
 * 2. Local volumes, of which there may be thousands, are indexed by host name.
 */
import { compareQuantities, matcherOfSelector, parseQuantity, type Quantity, zeroQuantity } from "#api";
import { type Claim, classOfClaim, isVolumeFor, type Volume } from "../volume-objects.ts";
import { type BindingObjects, hostnamesOf, type IsAccessible, type VolumeNode } from "./volume-access.ts";

const HOSTNAME = "kubernetes.io/hostname";

interface Candidate {
  readonly volume: Volume;
  /** Its position by size. */
  readonly rank: number;
}

export interface Choice {
  readonly claim: Claim;
  /** The volume that is reserved for the claim. */
  readonly own: Volume | undefined;
  readonly byHostname: ReadonlyMap<string, readonly Candidate[]>;
  readonly elsewhere: readonly Candidate[];
  readonly isAccessible: IsAccessible;
}

export function choiceOf(claim: Claim, objects: BindingObjects): Choice {
  const offered = objects.volumesOfClass(classOfClaim(claim)).filter((volume) => offers(volume, claim));
  const own = offered.find(({ spec }) => spec?.claimRef !== undefined);
  const byHostname = new Map<string, Candidate[]>();
  const elsewhere: Candidate[] = [];
  const open = own === undefined ? offered.filter((volume) => isOpenTo(volume, claim)) : [];
  open.sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)));
  for (const [rank, volume] of open.entries()) {
    const hostnames = hostnamesOf(volume);
    if (hostnames === undefined) elsewhere.push({ volume, rank });
    for (const hostname of hostnames ?? []) {
      const there = byHostname.get(hostname);
      if (there === undefined) byHostname.set(hostname, [{ volume, rank }]);
      else there.push({ volume, rank });
    }
  }
  return { claim, own, byHostname, elsewhere, isAccessible: objects.isAccessible };
}

/** The smallest volume that is accessible from the node and not `taken`. */
export function pick(
  { own, byHostname, elsewhere, isAccessible }: Choice,
  node: VolumeNode,
  taken: ReadonlySet<string>,
): Volume | undefined {
  const isFree = ({ metadata }: Volume) => !taken.has(metadata.name ?? "");
  if (own !== undefined) return isFree(own) && isAccessible(own, node) ? own : undefined;
  const here = byHostname.get(node.labels[HOSTNAME] ?? "")?.find(({ volume }) => isFree(volume));
  const there = elsewhere.find(({ volume }) => isFree(volume) && isAccessible(volume, node));
  if (here === undefined || there === undefined) return (here ?? there)?.volume;
  return here.rank < there.rank ? here.volume : there.volume;
}

function offers(volume: Volume, claim: Claim): boolean {
  const { spec, metadata } = volume;
  if (spec?.claimRef !== undefined && !isVolumeFor(volume, claim)) return false;
  return (
    metadata.deletionTimestamp === undefined &&
    compareQuantities(sizeOf(volume), requestOf(claim)) >= 0 &&
    (spec?.volumeMode ?? "Filesystem") === (claim.spec?.volumeMode ?? "Filesystem") &&
    (spec?.volumeAttributesClassName ?? "") === (claim.spec?.volumeAttributesClassName ?? "")
  );
}

function isOpenTo({ metadata, spec, status }: Volume, claim: Claim): boolean {
  if (status?.phase !== "Available") return false;
  const { selector, accessModes = [] } = claim.spec ?? {};
  if (selector !== undefined && !matcherOfSelector(selector).matches(metadata.labels)) return false;
  return accessModes.every((mode) => spec?.accessModes?.includes(mode));
}

function sizeOf({ spec }: Volume): Quantity {
  return quantityOf(spec?.capacity?.storage);
}

export function requestOf({ spec }: Claim): Quantity {
  return quantityOf(spec?.resources?.requests?.storage);
}

function quantityOf(text: string | undefined): Quantity {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
