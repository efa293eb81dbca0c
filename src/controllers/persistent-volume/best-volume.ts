/**
 * Which volume a claim gets: the one reserved for it; otherwise, of the available ones that satisfy it, the one with
 * the fewest access modes, then the smallest. The scheduler considers from which nodes a volume is accessible.
 */
import { compareQuantities, matcherOfSelector, parseQuantity, type Quantity, storageClassOf, zeroQuantity } from "#api";
import { classOfVolume, isBeingDeleted, isFor, type Volume, type VolumeClaim } from "./facts.ts";

/** `mayChoose`: whether it may take a volume that is not reserved for it. */
export function bestVolume(claim: VolumeClaim, candidates: Iterable<Volume>, mayChoose: boolean): Volume | undefined {
  const fitting = [...candidates].filter((volume) => fits(volume, claim, mayChoose));
  return fitting.sort((a, b) => compareRanks(rankOf(a, claim), rankOf(b, claim)))[0];
}

export function fits(volume: Volume, claim: VolumeClaim, mayChoose: boolean): boolean {
  if (isBeingDeleted(volume) || !offers(volume, claim)) return false;
  if (isFor(volume, claim)) return true;
  return mayChoose && volume.spec?.claimRef === undefined && isOpenTo(volume, claim);
}

/** Why a volume that the claim names cannot be bound, with the messages of Kubernetes. */
export function misfit(volume: Volume, claim: VolumeClaim): string | undefined {
  if (isBeingDeleted(volume)) return `the volume is marked for deletion "${volume.metadata.name ?? ""}"`;
  if (compareQuantities(sizeOf(volume), requestOf(claim)) < 0) return "requested PV is too small";
  if (classOfVolume(volume) !== storageClassOf(claim)) return "storageClassName does not match";
  if (!sameMode(volume, claim)) return "incompatible volumeMode";
  if (!hasModes(volume, claim)) return "incompatible accessMode";
  return undefined;
}

export function sameMode(volume: Volume, claim: VolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? "Filesystem") === (claim.spec?.volumeMode ?? "Filesystem");
}

function offers(volume: Volume, claim: VolumeClaim): boolean {
  return (
    compareQuantities(sizeOf(volume), requestOf(claim)) >= 0 &&
    sameMode(volume, claim) &&
    hasModes(volume, claim) &&
    (volume.spec?.volumeAttributesClassName ?? "") === (claim.spec?.volumeAttributesClassName ?? "")
  );
}

function isOpenTo(volume: Volume, claim: VolumeClaim): boolean {
  const selector = claim.spec?.selector;
  return (
    volume.status?.phase === "Available" &&
    classOfVolume(volume) === storageClassOf(claim) &&
    (selector === undefined || matcherOfSelector(selector).matches(volume.metadata.labels))
  );
}

function hasModes(volume: Volume, claim: VolumeClaim): boolean {
  const offered = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => offered.includes(mode));
}

interface Rank {
  readonly madeForIt: boolean;
  readonly modes: number;
  readonly size: Quantity;
  readonly name: string;
}

function rankOf(volume: Volume, claim: VolumeClaim): Rank {
  return {
    madeForIt: isFor(volume, claim),
    modes: volume.spec?.accessModes?.length ?? 0,
    size: sizeOf(volume),
    name: volume.metadata.name ?? "",
  };
}

function compareRanks(a: Rank, b: Rank): number {
  if (a.madeForIt !== b.madeForIt) return a.madeForIt ? -1 : 1;
  return a.modes - b.modes || compareQuantities(a.size, b.size) || (a.name < b.name ? -1 : 1);
}

function sizeOf({ spec }: Volume): Quantity {
  const text = spec?.capacity?.storage;
  return text === undefined ? zeroQuantity : parseQuantity(text);
}

function requestOf({ spec }: VolumeClaim): Quantity {
  const text = spec?.resources?.requests?.storage;
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
