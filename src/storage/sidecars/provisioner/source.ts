/**
 * What a new volume is filled with: a snapshot, or another volume that it is a clone of.
 *
 * 1. A source of another namespace needs a ReferenceGrant there, and the feature gate CrossNamespaceVolumeDataSource.
 * 2. Sources of other kinds belong to volume populators: such a claim is left to them.
 * 3. A source has to be as large as the new volume or smaller, and of its mode unless its content allows another.
 */
import { type KubeObject, kinds, type ResourceName } from "#api";
import type { Client } from "#client";
import type { CsiSent } from "../../csi/index.ts";
import { messageOf } from "../calls/final-errors.ts";
import { nodeOfVolume, type Volume, type VolumeClaim } from "../calls/volumes.ts";
import { bytesOf } from "./request.ts";
import { ProvisioningError } from "./state.ts";

const SNAPSHOTS = "snapshot.storage.k8s.io";
const ALLOW_MODE_CHANGE = "snapshot.storage.kubernetes.io/allow-volume-mode-change";
/** On contents of a node-local driver: the node that has the snapshot. */
const SNAPSHOT_NODE = "snapshot.k8ts.dev/node";

/** A VolumeSnapshot and its content, as far as they matter here: they are custom resources. */
export interface Snapshot extends KubeObject {
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
  };
}

export interface SnapshotContent extends KubeObject {
  readonly spec?: {
    readonly driver?: string;
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotRef?: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
  };
  readonly status?: { readonly snapshotHandle?: string };
}

interface ReferenceGrant extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group?: string; readonly kind?: string; readonly namespace?: string }[];
    readonly to?: readonly { readonly group?: string; readonly kind?: string; readonly name?: string }[];
  };
}

const named = <T extends KubeObject>(group: string, version: string, kind: string, plural: string, inside: boolean) =>
  ({ apiVersion: `${group}/${version}`, kind, plural, namespaced: inside }) as ResourceName<T>;
const SNAPSHOT = named<Snapshot>(SNAPSHOTS, "v1", "VolumeSnapshot", "volumesnapshots", true);
const CONTENT = named<SnapshotContent>(SNAPSHOTS, "v1", "VolumeSnapshotContent", "volumesnapshotcontents", false);
const GRANT = named<ReferenceGrant>("gateway.networking.k8s.io", "v1beta1", "ReferenceGrant", "referencegrants", true);

export interface SourceReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export interface Source {
  readonly content: CsiSent<"VolumeContentSource">;
  /** The node that has it, if the driver is node-local. */
  readonly node?: string | undefined;
  /** Of a clone: must not be deleted before the clone is made. */
  readonly claim?: VolumeClaim | undefined;
}

export interface SourceFacts {
  readonly claim: VolumeClaim;
  readonly driverName: string;
  readonly nodeTopologyKey: string | undefined;
  readonly preventModeConversion: boolean;
}

/** "populator": somebody else fills the volume. Undefined: it starts empty. */
export function sourceReference(
  { metadata, spec }: VolumeClaim,
  crossNamespace: boolean,
): SourceReference | "populator" | undefined {
  const { namespace = "" } = metadata;
  const { dataSource, dataSourceRef } = spec ?? {};
  const foreign = dataSourceRef?.namespace;
  const reference = crossNamespace || foreign === undefined ? (dataSourceRef ?? dataSource) : dataSource;
  if (reference === undefined) {
    if (dataSourceRef === undefined) return undefined;
    throw new ProvisioningError(
      "finished",
      "dataSourceRef.namespace needs the feature gate CrossNamespaceVolumeDataSource",
    );
  }
  const { apiGroup, kind, name } = reference;
  // A claim of the core group may also have null here.
  const group = apiGroup ?? "";
  const source = { group, kind, name, namespace: (crossNamespace ? foreign : undefined) ?? namespace };
  if (kind === "PersistentVolumeClaim" && group === "") return source;
  if (kind === "VolumeSnapshot" && group === SNAPSHOTS) return source;
  return "populator";
}

/** Throws if the source may not be used, or not yet. */
export async function readSource(
  reference: SourceReference,
  facts: SourceFacts,
  client: Client,
  signal: AbortSignal,
): Promise<Source> {
  try {
    await checkGrant(reference, facts.claim, client, signal);
    return reference.kind === "VolumeSnapshot"
      ? await snapshotSource(reference, facts, client, signal)
      : await cloneSource(reference, facts, client, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `error getting handle for DataSource Type ${reference.kind} by Name ${reference.name}: ${messageOf(error)}`;
    throw new ProvisioningError("no change", message, { cause: error });
  }
}

async function checkGrant(reference: SourceReference, { metadata }: VolumeClaim, client: Client, signal: AbortSignal) {
  const { namespace = "", name = "" } = metadata;
  if (reference.namespace === namespace) return;
  const { items } = await client.of(GRANT).in(reference.namespace).list({ signal });
  if (items.some((grant) => isGranted(grant, reference, namespace))) return;
  throw new Error(
    `accessing ${reference.namespace}/${reference.name} of ${reference.kind} dataSource from ${namespace}/${name} isn't allowed`,
  );
}

export function isGranted({ spec }: ReferenceGrant, reference: SourceReference, namespace: string): boolean {
  const { from = [], to = [] } = spec ?? {};
  return (
    from.some(
      (each) => (each.group ?? "") === "" && each.kind === "PersistentVolumeClaim" && each.namespace === namespace,
    ) &&
    to.some(
      ({ group = "", kind, name = "" }) =>
        group === reference.group && kind === reference.kind && (name === "" || name === reference.name),
    )
  );
}

async function cloneSource(reference: SourceReference, facts: SourceFacts, client: Client, signal: AbortSignal) {
  const source = await client.of(kinds.PersistentVolumeClaim).in(reference.namespace).get(reference.name, { signal });
  const { volumeName = "" } = source.spec ?? {};
  if (source.status?.phase !== "Bound" || volumeName === "")
    throw new Error(
      `the PVC DataSource ${reference.name} must have a status of Bound. Got ${source.status?.phase ?? ""}`,
    );
  const volume = await client.of(kinds.PersistentVolume).get(volumeName, { signal });
  return sourceOfClone(source, volume, facts);
}

/** Pure. */
export function sourceOfClone(
  source: VolumeClaim,
  volume: Volume,
  { claim, driverName, nodeTopologyKey }: SourceFacts,
): Source {
  const { name = "", namespace, uid, deletionTimestamp } = source.metadata;
  if (deletionTimestamp !== undefined) throw new Error(`the PVC DataSource ${name} is currently being deleted`);
  const requested = bytesOf(claim.spec?.resources?.requests?.storage);
  const present = bytesOf(source.spec?.resources?.requests?.storage);
  if (requested < present)
    throw new Error(
      `error, new PVC request must be greater than or equal in size to the specified PVC data source, requested ${requested} but source is ${present}`,
    );
  const { csi, claimRef } = volume.spec ?? {};
  const isBound = claimRef?.uid === uid && claimRef?.namespace === namespace && volume.status?.phase === "Bound";
  if (csi?.driver !== driverName || !isBound) throw new Error("claim in dataSource not bound or invalid");
  const [from, to] = [volume.spec?.volumeMode ?? "Filesystem", claim.spec?.volumeMode ?? "Filesystem"];
  if (from !== to)
    throw new Error(
      `the source PVC and destination PVCs must have the same volume mode for cloning.  Source is ${from}, but new PVC requested ${to}`,
    );
  const node = nodeOfVolume(volume, nodeTopologyKey);
  return { content: { volume: { volumeId: csi.volumeHandle } }, node, claim: source };
}

async function snapshotSource(reference: SourceReference, facts: SourceFacts, client: Client, signal: AbortSignal) {
  const snapshot = await client.of(SNAPSHOT).in(reference.namespace).get(reference.name, { signal });
  const bound = snapshot.status?.boundVolumeSnapshotContentName;
  if (bound === undefined) throw new Error(notBound(reference.name));
  const content = await client.of(CONTENT).get(bound, { signal });
  return sourceOfSnapshot(snapshot, content, facts);
}

/** Pure. */
export function sourceOfSnapshot(snapshot: Snapshot, content: SnapshotContent, facts: SourceFacts): Source {
  const { claim, driverName, preventModeConversion } = facts;
  const { name = "", namespace, uid, deletionTimestamp } = snapshot.metadata;
  if (deletionTimestamp !== undefined) throw new Error(`snapshot ${name} is currently being deleted`);
  const { volumeSnapshotRef, driver, sourceVolumeMode } = content.spec ?? {};
  const isBound =
    volumeSnapshotRef?.uid === uid && volumeSnapshotRef?.name === name && volumeSnapshotRef?.namespace === namespace;
  if (!isBound || driver !== driverName) throw new Error(notBound(name));
  if (snapshot.status?.readyToUse !== true) throw new Error(`snapshot ${name} is not Ready`);
  const handle = content.status?.snapshotHandle;
  if (handle === undefined) throw new Error(`snapshot handle ${name} is not available`);
  const requested = bytesOf(claim.spec?.resources?.requests?.storage);
  const needed = bytesOf(snapshot.status.restoreSize);
  if (requested < needed)
    throw new Error(
      `requested volume size ${requested} is less than the size ${needed} for the source snapshot ${name}`,
    );
  const { annotations = {} } = content.metadata;
  const mode = claim.spec?.volumeMode ?? "Filesystem";
  const converts = sourceVolumeMode !== undefined && sourceVolumeMode !== mode;
  if (preventModeConversion && converts && annotations[ALLOW_MODE_CHANGE] !== "true")
    throw new Error(
      `requested volume ${claim.metadata.namespace}/${claim.metadata.name} modifies the mode of the source volume but does not have permission to do so. ${ALLOW_MODE_CHANGE} annotation is not present on snapshotcontent ${content.metadata.name}`,
    );
  return { content: { snapshot: { snapshotId: handle } }, node: annotations[SNAPSHOT_NODE] };
}

function notBound(name: string): string {
  return `snapshot ${name} not bound`;
}
