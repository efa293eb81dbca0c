/**
 * What a node means for a Pod's claims: which free volumes they would get there, which would have to be made, or why not.
 *
 * 1. Claims are served from the smallest to the largest, each with the smallest volume that is free, reached from the node, and offers what is asked.
 * 2. What finds no volume is made, where the class can make one for the node and the driver, if it says, has the space.
 * 3. Once a node was selected for a claim, no other will do until the provisioner gives up.
 */
import { compareQuantities, type core, type Labels, matcherOfSelector, parseQuantity, type storage } from "#api";
import { type Claim, classOfClaim, SELECTED_NODE, type Volume, type VolumeObjects } from "../volume-objects.ts";
import { type Choice, choiceOf, pick, requestOf } from "./choices.ts";
import type { PodVolumes } from "./pod-volumes.ts";
import { isReached, type VolumeNode } from "./reach.ts";

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
const NONE: NodeVolumes = { matches: [], toMake: [] };

/** What is true of a Pod's claims whatever the node. */
export interface VolumeSearch {
  readonly bound: readonly Claim[];
  /** Claims that have a node already, and are on their way there. */
  readonly selected: readonly Claim[];
  /** Of the others, the smallest first. */
  readonly choices: readonly Choice[];
}

export function volumeSearch({ bound, delayed }: PodVolumes, objects: VolumeObjects): VolumeSearch {
  const open = delayed.filter((claim) => selectedNode(claim) === undefined);
  return {
    bound,
    selected: delayed.filter((claim) => selectedNode(claim) !== undefined),
    choices: open
      .toSorted((a, b) => compareQuantities(requestOf(a), requestOf(b)))
      .map((claim) => choiceOf(claim, objects)),
  };
}

/** All are bound to volumes that do not mind which node it is. */
export function isReachedFromAnywhere({ bound, delayed }: PodVolumes, objects: VolumeObjects): boolean {
  if (delayed.length > 0) return false;
  return bound.every(({ spec }) => {
    const volume = objects.volume(spec?.volumeName ?? "");
    return volume !== undefined && volume.spec?.nodeAffinity?.required === undefined;
  });
}

export function findVolumes(search: VolumeSearch, node: VolumeNode, objects: VolumeObjects): NodeVolumesOrConflict {
  const conflict = boundConflict(search.bound, node, objects);
  const found = delayedVolumes(search, node, objects);
  if (conflict === undefined && typeof found !== "string") return found;
  const unmet = typeof found === "string" ? [found] : [];
  // A volume that is gone is told last.
  if (conflict === NO_VOLUME) return { reasons: [...unmet, conflict] };
  return { reasons: conflict === undefined ? unmet : [conflict, ...unmet] };
}

function boundConflict(claims: readonly Claim[], node: VolumeNode, objects: VolumeObjects): string | undefined {
  for (const claim of claims) {
    const volume = objects.volume(claim.spec?.volumeName ?? "");
    if (volume === undefined) return NO_VOLUME;
    if (!isReached(volume, node)) return CONFLICT;
  }
  return undefined;
}

function delayedVolumes(
  { selected, choices }: VolumeSearch,
  node: VolumeNode,
  objects: VolumeObjects,
): NodeVolumes | string {
  if (selected.length + choices.length === 0) return NONE;
  if (selected.some((claim) => selectedNode(claim) !== node.name)) return NOTHING_TO_BIND;
  const matches: Match[] = [];
  const toMake = [...selected];
  const taken = new Set<string>();
  for (const choice of choices) {
    const volume = pick(choice, node, taken);
    if (volume === undefined) toMake.push(choice.claim);
    else {
      taken.add(volume.metadata.name ?? "");
      matches.push({ claim: choice.claim, volume });
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
