/**
 * The volumes of a Pod's claims on a node: which available volumes match, which have to be provisioned, or why it does
 * not work.
 *
 * 1. Claims are matched from the smallest to the largest, each with the smallest available volume that is accessible
 *    from the node and satisfies the claim.
 * 2. Claims without a match are provisioned, if the StorageClass allows it for the node and the driver has the
 *    capacity.
 * 3. Once a node is selected for a claim, only that node fits until the provisioner gives up.
 */
import { compareQuantities, type core, type Labels, matcherOfSelector, parseQuantity, type storage } from "#api";
import { type Claim, classOfClaim, SELECTED_NODE, type Volume } from "../volume-objects.ts";
import { type Choice, choiceOf, pick, requestOf } from "./choices.ts";
import type { PodVolumes } from "./pod-volumes.ts";
import type { BindingObjects, VolumeNode } from "./volume-access.ts";

export interface Match {
  readonly claim: Claim;
  readonly volume: Volume;
}

export interface NodeVolumes {
  readonly matches: readonly Match[];
  /** Claims to be provisioned. */
  readonly toProvision: readonly Claim[];
}

export type NodeVolumesOrConflict = NodeVolumes | { readonly reasons: readonly string[] };

const CONFLICT = "node(s) didn't match PersistentVolume's node affinity";
const NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = "node(s) did not have enough free storage";
const NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const NONE: NodeVolumes = { matches: [], toProvision: [] };

/** The part of the search that is independent of nodes. */
export interface VolumeSearch {
  readonly bound: readonly Claim[];
  /** Claims with a selected node, in provisioning. */
  readonly selected: readonly Claim[];
  /** Choices of the other claims, smallest first. */
  readonly choices: readonly Choice[];
}

export function volumeSearch({ bound, delayed }: PodVolumes, objects: BindingObjects): VolumeSearch {
  const open = delayed.filter((claim) => selectedNode(claim) === undefined);
  return {
    bound,
    selected: delayed.filter((claim) => selectedNode(claim) !== undefined),
    choices: open
      .toSorted((a, b) => compareQuantities(requestOf(a), requestOf(b)))
      .map((claim) => choiceOf(claim, objects)),
  };
}

/** Whether all claims are bound to volumes without node affinity. */
export function isAccessibleEverywhere({ bound, delayed }: PodVolumes, objects: BindingObjects): boolean {
  if (delayed.length > 0) return false;
  return bound.every(({ spec }) => {
    const volume = objects.volume(spec?.volumeName ?? "");
    return volume !== undefined && volume.spec?.nodeAffinity?.required === undefined;
  });
}

export function findVolumes(search: VolumeSearch, node: VolumeNode, objects: BindingObjects): NodeVolumesOrConflict {
  const conflict = boundConflict(search.bound, node, objects);
  const found = delayedVolumes(search, node, objects);
  if (conflict === undefined && typeof found !== "string") return found;
  const unmet = typeof found === "string" ? [found] : [];
  // kube-scheduler reports a missing volume last.
  if (conflict === NO_VOLUME) return { reasons: [...unmet, conflict] };
  return { reasons: conflict === undefined ? unmet : [conflict, ...unmet] };
}

function boundConflict(claims: readonly Claim[], node: VolumeNode, objects: BindingObjects): string | undefined {
  for (const claim of claims) {
    const volume = objects.volume(claim.spec?.volumeName ?? "");
    if (volume === undefined) return NO_VOLUME;
    if (!objects.isAccessible(volume, node)) return CONFLICT;
  }
  return undefined;
}

function delayedVolumes(
  { selected, choices }: VolumeSearch,
  node: VolumeNode,
  objects: BindingObjects,
): NodeVolumes | string {
  if (selected.length + choices.length === 0) return NONE;
  if (selected.some((claim) => selectedNode(claim) !== node.name)) return NOTHING_TO_BIND;
  const matches: Match[] = [];
  const toProvision = [...selected];
  const taken = new Set<string>();
  for (const choice of choices) {
    const volume = pick(choice, node, taken);
    if (volume === undefined) toProvision.push(choice.claim);
    else {
      taken.add(volume.metadata.name ?? "");
      matches.push({ claim: choice.claim, volume });
    }
  }
  for (const claim of toProvision) {
    const storageClass = objects.storageClass(classOfClaim(claim));
    if (storageClass === undefined || !canProvision(storageClass, node)) return NOTHING_TO_BIND;
    if (!hasSpace(claim, storageClass, node, objects)) return NO_SPACE;
  }
  return { matches, toProvision };
}

function selectedNode({ metadata }: Claim): string | undefined {
  return metadata.annotations?.[SELECTED_NODE];
}

function canProvision({ provisioner, allowedTopologies = [] }: storage.StorageClass, { labels }: VolumeNode): boolean {
  if (provisioner === "" || provisioner === NO_PROVISIONER) return false;
  return allowedTopologies.length === 0 || allowedTopologies.some((term) => isIn(term, labels));
}

function isIn({ matchLabelExpressions = [] }: core.TopologySelectorTerm, labels: Labels): boolean {
  return (
    matchLabelExpressions.length > 0 &&
    matchLabelExpressions.every(({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ""))
  );
}

/** Only drivers with storageCapacity are checked. */
function hasSpace(
  claim: Claim,
  { provisioner, metadata }: storage.StorageClass,
  { labels }: VolumeNode,
  objects: BindingObjects,
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
