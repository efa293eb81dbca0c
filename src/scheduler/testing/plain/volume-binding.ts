/**
 * For bound claims, the volume must be accessible from the node. For delayed claims, an available volume must be
 * accessible from the node, or one can be provisioned for it.
 */
import { compareQuantities, type core, matcherOfSelector, parseQuantity, type Quantity, zeroQuantity } from "#api";
import {
  claimNotFound,
  claimUses,
  classNameOf,
  classOf,
  isBound,
  isOwnedBy,
  SELECTED_NODE,
  volumeClassOf,
  volumeOf,
} from "./claims.ts";
import { labelsOf, nameOf, type PlainCluster, type PlainPlugin, type PlainQuestion, unresolvable } from "./cluster.ts";
import { fitsTerm } from "./node-selector.ts";

type Claim = core.PersistentVolumeClaim;

export const volumeBinding: PlainPlugin = {
  name: "VolumeBinding",
  preFilter({ pod, cluster }) {
    for (const { name, ephemeral, claim } of claimUses(pod, cluster)) {
      const wrong = faultOf(pod, name, ephemeral, claim);
      if (wrong !== undefined) return unresolvable(wrong);
    }
    const waiting = claimsOf(pod, cluster).some((claim) => !isBound(claim) && !isDelayed(claim, cluster));
    return waiting ? unresolvable("pod has unbound immediate PersistentVolumeClaims") : undefined;
  },
  filter(question, node) {
    const reasons = conflictsOf(question, node);
    return reasons.length === 0 ? undefined : unresolvable(...reasons);
  },
};

function faultOf(pod: core.Pod, name: string, ephemeral: boolean, claim: Claim | undefined): string | undefined {
  if (claim === undefined)
    return ephemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : claimNotFound(name);
  if (claim.status?.phase === "Lost")
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ""}"`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (ephemeral && !isOwnedBy(claim, pod)) {
    const { namespace } = pod.metadata;
    return `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`;
  }
  return undefined;
}

function claimsOf(pod: core.Pod, cluster: PlainCluster): readonly Claim[] {
  return claimUses(pod, cluster).flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
}

function isDelayed(claim: Claim, cluster: PlainCluster): boolean {
  const mode = classOf(claim, cluster)?.volumeBindingMode;
  return mode === "WaitForFirstConsumer" && (claim.spec?.volumeName ?? "") === "";
}

function conflictsOf({ pod, cluster }: PlainQuestion, node: core.Node): readonly string[] {
  const claims = claimsOf(pod, cluster);
  const reasons: string[] = [];
  let lost = false;
  for (const claim of claims.filter(isBound)) {
    const volume = volumeOf(claim, cluster);
    if (volume === undefined) lost = true;
    else if (!reachedFrom(volume, node)) reasons.push("node(s) didn't match PersistentVolume's node affinity");
    if (lost || reasons.length > 0) break;
  }
  const unmet = unboundConflict(
    claims.filter((claim) => !isBound(claim)),
    node,
    cluster,
  );
  if (unmet !== undefined) reasons.push(unmet);
  if (lost) reasons.push("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  return reasons;
}

const NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind";

function unboundConflict(claims: readonly Claim[], node: core.Node, cluster: PlainCluster): string | undefined {
  const selected = (claim: Claim) => claim.metadata.annotations?.[SELECTED_NODE];
  if (claims.some((claim) => selected(claim) !== undefined && selected(claim) !== nameOf(node))) return NOTHING_TO_BIND;
  const bySize = claims
    .filter((claim) => selected(claim) === undefined)
    .sort((a, b) => compareQuantities(requestOf(a), requestOf(b)));
  const taken = new Set<core.PersistentVolume>();
  const toMake = claims.filter((claim) => selected(claim) !== undefined);
  for (const claim of bySize) {
    const volume = smallestFree(claim, node, taken, cluster);
    if (volume === undefined) toMake.push(claim);
    else taken.add(volume);
  }
  for (const claim of toMake) {
    if (!canBeMade(claim, node, cluster)) return NOTHING_TO_BIND;
    if (!hasSpace(claim, node, cluster)) return "node(s) did not have enough free storage";
  }
  return undefined;
}

function smallestFree(
  claim: Claim,
  node: core.Node,
  taken: ReadonlySet<core.PersistentVolume>,
  { persistentVolumes = [] }: PlainCluster,
): core.PersistentVolume | undefined {
  const open = persistentVolumes.filter((volume) => !taken.has(volume) && offers(volume, claim));
  const own = open.find((volume) => volume.spec?.claimRef !== undefined);
  if (own !== undefined) return reachedFrom(own, node) ? own : undefined;
  return open
    .filter((volume) => reachedFrom(volume, node) && isOpenTo(volume, claim))
    .reduce<core.PersistentVolume | undefined>(
      (best, volume) => (best !== undefined && compareQuantities(sizeOf(best), sizeOf(volume)) <= 0 ? best : volume),
      undefined,
    );
}

/**
 * Large enough, of the right mode, and not reserved for another claim. Only volumes of the claim's class are
 * considered.
 */
function offers(volume: core.PersistentVolume, claim: Claim): boolean {
  const { spec, metadata } = volume;
  const reference = spec?.claimRef;
  const isOurs = reference?.name === claim.metadata.name && reference?.namespace === claim.metadata.namespace;
  const sameOne = (reference?.uid ?? "") === "" || reference?.uid === claim.metadata.uid;
  return (
    volumeClassOf(volume) === classNameOf(claim) &&
    (reference === undefined || (isOurs && sameOne)) &&
    compareQuantities(sizeOf(volume), requestOf(claim)) >= 0 &&
    (spec?.volumeMode ?? "Filesystem") === (claim.spec?.volumeMode ?? "Filesystem") &&
    (spec?.volumeAttributesClassName ?? "") === (claim.spec?.volumeAttributesClassName ?? "") &&
    metadata.deletionTimestamp === undefined
  );
}

function isOpenTo(volume: core.PersistentVolume, claim: Claim): boolean {
  const selector = claim.spec?.selector;
  return (
    volume.status?.phase === "Available" &&
    (selector === undefined || matcherOfSelector(selector).matches(volume.metadata.labels)) &&
    (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode))
  );
}

/** Node affinity of volumes matches labels only. */
function reachedFrom({ spec }: core.PersistentVolume, node: core.Node): boolean {
  const required = spec?.nodeAffinity?.required;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some(({ matchExpressions = [], matchFields = [] }) =>
    matchExpressions.length === 0 ? matchFields.length > 0 : fitsTerm({ matchExpressions }, node),
  );
}

function canBeMade(claim: Claim, node: core.Node, cluster: PlainCluster): boolean {
  const storageClass = classOf(claim, cluster);
  const provisioner = storageClass?.provisioner ?? "";
  if (provisioner === "" || provisioner === "kubernetes.io/no-provisioner") return false;
  const terms = storageClass?.allowedTopologies ?? [];
  const labels = labelsOf(node);
  return (
    terms.length === 0 ||
    terms.some(
      ({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.length > 0 &&
        matchLabelExpressions.every(
          ({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ""),
        ),
    )
  );
}

/** Only drivers with storageCapacity are checked. */
function hasSpace(claim: Claim, node: core.Node, cluster: PlainCluster): boolean {
  const storageClass = classOf(claim, cluster);
  const driver = cluster.csiDrivers?.find(({ metadata }) => metadata.name === storageClass?.provisioner);
  if (driver?.spec?.storageCapacity !== true || claim.spec?.resources?.requests?.storage === undefined) return true;
  return (cluster.csiStorageCapacities ?? []).some(
    ({ storageClassName, capacity, maximumVolumeSize, nodeTopology }) => {
      const most = maximumVolumeSize ?? capacity;
      return (
        storageClassName === storageClass?.metadata.name &&
        most !== undefined &&
        compareQuantities(parseQuantity(most), requestOf(claim)) >= 0 &&
        nodeTopology !== undefined &&
        matcherOfSelector(nodeTopology).matches(labelsOf(node))
      );
    },
  );
}

function sizeOf({ spec }: core.PersistentVolume): Quantity {
  const text = spec?.capacity?.storage;
  return text === undefined ? zeroQuantity : parseQuantity(text);
}

function requestOf({ spec }: Claim): Quantity {
  const text = spec?.resources?.requests?.storage;
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
