/** The claim of a snapshot, the volume behind it, and the finalizer that keeps it while a snapshot is made. */
import { type core, kinds } from "#api";
import type { Write } from "#controllers";
import type { VolumeSnapshot } from "../objects/kinds.ts";
import { finalizers } from "../objects/names.ts";
import type { Resolved } from "../objects/secret-reference.ts";
import { has, isReady } from "../objects/state.ts";
import type { SnapshotLookups } from "./lookups.ts";

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

export function claimKeyOf({ metadata, spec }: VolumeSnapshot): string | undefined {
  const { persistentVolumeClaimName: name = "" } = spec.source;
  return name === "" ? undefined : `${metadata.namespace}/${name}`;
}

export function claimOf(snapshot: VolumeSnapshot, lookups: Pick<SnapshotLookups, "claim">): Resolved<Claim> {
  const { metadata, spec } = snapshot;
  const { persistentVolumeClaimName: name } = spec.source;
  if (name === undefined) return failed("the snapshot source PVC name is not specified");
  if (name === "") return failed(`the PVC name is not specified in snapshot ${metadata.namespace}/${metadata.name}`);
  const claim = lookups.claim(`${metadata.namespace}/${name}`);
  const missing = `persistentvolumeclaim "${name}" not found`;
  if (claim === undefined) return failed(`failed to retrieve PVC ${name} from the lister: ${JSON.stringify(missing)}`);
  return { ok: true, value: claim };
}

/** The volume of a bound claim. `word`: what is not made otherwise, "snapshot" or "group snapshot". */
export function volumeOf(claim: Claim, lookups: Pick<SnapshotLookups, "volume">, word = "snapshot"): Resolved<Volume> {
  const { name, namespace, uid } = claim.metadata;
  if (claim.status?.phase !== "Bound")
    return failed(`the PVC ${name} is not yet bound to a PV, will not attempt to take a ${word}`);
  const volumeName = claim.spec?.volumeName ?? "";
  const volume = lookups.volume(volumeName);
  if (volume === undefined) {
    const missing = JSON.stringify(`persistentvolumes "${volumeName}" not found`);
    return failed(`failed to retrieve PV ${volumeName} from the API server: ${missing}`);
  }
  const ref = volume.spec?.claimRef;
  const isBound = ref?.name === name && ref?.namespace === namespace && (ref?.uid === undefined || ref.uid === uid);
  return isBound ? { ok: true, value: volume } : failed("claim in dataSource not bound or invalid");
}

/** The write that gives a claim the finalizer; undefined if it has it. */
export function keepClaim(snapshot: VolumeSnapshot, lookups: SnapshotLookups): Resolved<Write | undefined> {
  const update = (name: string | undefined, words: string) =>
    failed(`snapshot controller failed to update ${name} on API server: ${words}`);
  const claim = claimOf(snapshot, lookups);
  if (!claim.ok) return update(snapshot.metadata.name, "cannot get claim from snapshot");
  if (has(claim.value, finalizers.claimAsSource)) return { ok: true, value: undefined };
  const { metadata } = claim.value;
  if (metadata.deletionTimestamp !== undefined)
    return update(metadata.name, "cannot add finalizer on claim because it is being deleted");
  return { ok: true, value: claimUpdate(claim.value, [...(metadata.finalizers ?? []), finalizers.claimAsSource]) };
}

/** The write that releases a claim that no snapshot is being made of. `leaving`: a snapshot that does not count. */
export function releaseClaim(
  snapshot: VolumeSnapshot,
  lookups: SnapshotLookups,
  leaving?: VolumeSnapshot,
): Write | undefined {
  const key = claimKeyOf(snapshot);
  const claim = key === undefined ? undefined : lookups.claim(key);
  if (key === undefined || claim === undefined || !has(claim, finalizers.claimAsSource)) return undefined;
  const isUsed = lookups
    .snapshotsOf(key)
    .some((each) => each.metadata.name !== leaving?.metadata.name && !isReady(each));
  if (isUsed) return undefined;
  const left = (claim.metadata.finalizers ?? []).filter((each) => each !== finalizers.claimAsSource);
  return claimUpdate(claim, left);
}

/** Upstream's role has no right to patch claims. */
function claimUpdate(claim: Claim, next: readonly string[]): Write {
  const object = { ...claim, metadata: { ...claim.metadata, finalizers: next } };
  return { verb: "update", resource: kinds.PersistentVolumeClaim, object };
}

function failed(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}
