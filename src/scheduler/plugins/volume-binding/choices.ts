/**
 * The volumes that a claim could get, whatever the node: found once for a Pod, so that each node is only asked which of them it reaches.
 *
 * 1. A volume that is reserved for the claim is the only choice. Otherwise all that are free and offer what is asked are, the smallest first.
 * 2. Disks of single nodes, of which there may be thousands, are found by the name of the node.
 */
import { compareQuantities, matcherOfSelector, parseQuantity, type Quantity, zeroQuantity } from "#api";
import { type Claim, classOfClaim, isVolumeFor, type Volume, type VolumeObjects } from "../volume-objects.ts";
import { hostnamesOf, isReached, type VolumeNode } from "./reach.ts";

const HOSTNAME = "kubernetes.io/hostname";

interface Candidate {
  readonly volume: Volume;
  /** Its place among all, by size. */
  readonly rank: number;
}

export interface Choice {
  readonly claim: Claim;
  /** Reserved for it. */
  readonly own: Volume | undefined;
  readonly byHostname: ReadonlyMap<string, readonly Candidate[]>;
  readonly elsewhere: readonly Candidate[];
}

export function choiceOf(claim: Claim, objects: VolumeObjects): Choice {
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
  return { claim, own, byHostname, elsewhere };
}

/** The smallest that is reached from the node and not `taken`. */
export function pick(
  { own, byHostname, elsewhere }: Choice,
  node: VolumeNode,
  taken: ReadonlySet<string>,
): Volume | undefined {
  const isFree = ({ metadata }: Volume) => !taken.has(metadata.name ?? "");
  if (own !== undefined) return isFree(own) && isReached(own, node) ? own : undefined;
  const here = byHostname.get(node.labels[HOSTNAME] ?? "")?.find(({ volume }) => isFree(volume));
  const there = elsewhere.find(({ volume }) => isFree(volume) && isReached(volume, node));
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
