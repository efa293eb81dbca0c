/**
 * What a node means for a Pod's claims: which free volumes they would get there, which would have to be made, or why not.
 *
 * 1. Claims are served from the smallest to the largest, each with the smallest volume that is free, reached from the node, and offers what is asked. A volume
 *    that is reserved for the claim is the only one it can get.
 * 2. What finds no volume is made, where the class can make one for the node and the driver, if it says, has the space.
 * 3. Once a node was selected for a claim, no other will do until the provisioner gives up.
 */
import {
  compareQuantities,
  type core,
  type Labels,
  matcherOfSelector,
  parseQuantity,
  type Quantity,
  type storage,
  zeroQuantity,
} from "#api";
import { type NodeMatcher, selectorMatcher } from "../node-selectors.ts";
import {
  type Claim,
  classOfClaim,
  isVolumeFor,
  SELECTED_NODE,
  type Volume,
  type VolumeObjects,
} from "../volume-objects.ts";
import type { PodVolumes } from "./pod-volumes.ts";

export interface Match {
  readonly claim: Claim;
  readonly volume: Volume;
}

export interface NodeVolumes {
  readonly matches: readonly Match[];
  /** Claims that a volume has to be made for. */
  readonly toMake: readonly Claim[];
}

export type NodeVolumesOrConflict = NodeVolumes | { readonly reasons: readonly string[] };

const CONFLICT = "node(s) didn't match PersistentVolume's node affinity";
const NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = "node(s) did not have enough free storage";
const NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
const NO_PROVISIONER = "kubernetes.io/no-provisioner";

export interface VolumeNode {
  readonly name: string;
  readonly labels: Labels;
}

export function findVolumes(
  { bound, delayed }: PodVolumes,
  node: VolumeNode,
  objects: VolumeObjects,
): NodeVolumesOrConflict {
  const conflict = boundConflict(bound, node, objects);
  const found = delayed.length === 0 ? NONE : delayedVolumes(delayed, node, objects);
  if (conflict === undefined && typeof found !== "string") return found;
  const unmet = typeof found === "string" ? [found] : [];
  // A volume that is gone is told last.
  if (conflict === NO_VOLUME) return { reasons: [...unmet, conflict] };
  return { reasons: conflict === undefined ? unmet : [conflict, ...unmet] };
}

const NONE: NodeVolumes = { matches: [], toMake: [] };

/** All are bound to volumes that do not mind which node it is. */
export function isReachedFromAnywhere({ bound, delayed }: PodVolumes, objects: VolumeObjects): boolean {
  if (delayed.length > 0) return false;
  return bound.every(({ spec }) => {
    const volume = objects.volume(spec?.volumeName ?? "");
    return volume !== undefined && volume.spec?.nodeAffinity?.required === undefined;
  });
}

function boundConflict(claims: readonly Claim[], node: VolumeNode, objects: VolumeObjects): string | undefined {
  for (const claim of claims) {
    const volume = objects.volume(claim.spec?.volumeName ?? "");
    if (volume === undefined) return NO_VOLUME;
    if (!isReached(volume, node)) return CONFLICT;
  }
  return undefined;
}

function delayedVolumes(claims: readonly Claim[], node: VolumeNode, objects: VolumeObjects): NodeVolumes | string {
  const selected = claims.filter((claim) => selectedNode(claim) !== undefined);
  if (selected.some((claim) => selectedNode(claim) !== node.name)) return NOTHING_TO_BIND;
  const matches: Match[] = [];
  const toMake = [...selected];
  const taken = new Set<string>();
  for (const claim of bySize(claims.filter((each) => selectedNode(each) === undefined))) {
    const volume = matchingVolume(claim, node, taken, objects);
    if (volume === undefined) toMake.push(claim);
    else {
      taken.add(volume.metadata.name ?? "");
      matches.push({ claim, volume });
    }
  }
  for (const claim of toMake) {
    const storageClass = objects.storageClass(classOfClaim(claim));
    if (storageClass === undefined || !canMake(storageClass, node)) return NOTHING_TO_BIND;
    if (!hasSpace(claim, storageClass, node, objects)) return NO_SPACE;
  }
  return { matches, toMake };
}

function selectedNode({ metadata }: Claim): string | undefined {
  return metadata.annotations?.[SELECTED_NODE];
}

function bySize(claims: readonly Claim[]): readonly Claim[] {
  return claims.length < 2 ? claims : claims.toSorted((a, b) => compareQuantities(requestOf(a), requestOf(b)));
}

function matchingVolume(
  claim: Claim,
  node: VolumeNode,
  taken: ReadonlySet<string>,
  objects: VolumeObjects,
): Volume | undefined {
  let smallest: Volume | undefined;
  for (const volume of objects.volumesOfClass(classOfClaim(claim))) {
    if (taken.has(volume.metadata.name ?? "") || !offers(volume, claim)) continue;
    const reached = isReached(volume, node);
    if (volume.spec?.claimRef !== undefined) return reached ? volume : undefined;
    if (!reached || !isOpenTo(volume, claim)) continue;
    if (smallest === undefined || compareQuantities(sizeOf(volume), sizeOf(smallest)) < 0) smallest = volume;
  }
  return smallest;
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

const reaches = new WeakMap<Volume, NodeMatcher>();

export function isReached(volume: Volume, node: VolumeNode): boolean {
  const required = volume.spec?.nodeAffinity?.required;
  if (required === undefined) return true;
  let matches = reaches.get(volume);
  if (matches === undefined) {
    matches = byLabels(required);
    reaches.set(volume, matches);
  }
  return matches(node);
}

/** Volumes know nodes by their labels: what a term says of a node's fields does not count, but the term does. */
function byLabels({ nodeSelectorTerms = [] }: core.NodeSelector): NodeMatcher {
  const anywhere = nodeSelectorTerms.some(
    ({ matchExpressions = [], matchFields = [] }) => matchExpressions.length === 0 && matchFields.length > 0,
  );
  if (anywhere) return () => true;
  return selectorMatcher({
    nodeSelectorTerms: nodeSelectorTerms.map(({ matchExpressions = [] }) => ({ matchExpressions })),
  });
}

function canMake({ provisioner, allowedTopologies = [] }: storage.StorageClass, { labels }: VolumeNode): boolean {
  if (provisioner === "" || provisioner === NO_PROVISIONER) return false;
  return allowedTopologies.length === 0 || allowedTopologies.some((term) => isIn(term, labels));
}

function isIn({ matchLabelExpressions = [] }: core.TopologySelectorTerm, labels: Labels): boolean {
  return (
    matchLabelExpressions.length > 0 &&
    matchLabelExpressions.every(({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ""))
  );
}

/** Only drivers that publish their capacities are held to them. */
function hasSpace(
  claim: Claim,
  { provisioner, metadata }: storage.StorageClass,
  { labels }: VolumeNode,
  objects: VolumeObjects,
): boolean {
  if (claim.spec?.resources?.requests?.storage === undefined) return true;
  if (objects.csiDriver(provisioner)?.spec?.storageCapacity !== true) return true;
  const wanted = requestOf(claim);
  return objects.capacitiesOf(metadata.name ?? "").some(({ capacity, maximumVolumeSize, nodeTopology }) => {
    const most = maximumVolumeSize ?? capacity;
    if (most === undefined || nodeTopology === undefined) return false;
    return compareQuantities(parseQuantity(most), wanted) >= 0 && matcherOfSelector(nodeTopology).matches(labels);
  });
}

function sizeOf({ spec }: Volume): Quantity {
  return quantityOf(spec?.capacity?.storage);
}

function requestOf({ spec }: Claim): Quantity {
  return quantityOf(spec?.resources?.requests?.storage);
}

function quantityOf(text: string | undefined): Quantity {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
