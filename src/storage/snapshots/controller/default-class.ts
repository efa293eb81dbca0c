/** The class of a snapshot: the one that it names, or the default class of its volume's driver. */
import type { Plan } from "#controllers";
import { snapshotKinds, type VolumeSnapshot } from "../objects/kinds.ts";
import { annotations } from "../objects/names.ts";
import type { Resolved } from "../objects/secret-reference.ts";
import { isGroupMember, keyOfObject } from "../objects/state.ts";
import { merged, oneStep } from "../objects/writes.ts";
import { claimOf, volumeOf } from "./claims.ts";
import type { SnapshotLookups } from "./lookups.ts";
import { failure } from "./status.ts";

/** "done": it has the class that it needs. Undefined: it waits for one. */
export function classPlan(snapshot: VolumeSnapshot, lookups: SnapshotLookups, now: number): Plan | undefined | "done" {
  const { volumeSnapshotClassName: name, source } = snapshot.spec;
  if (name !== undefined) {
    if (lookups.class(name) !== undefined) return "done";
    const missing = `volumesnapshotclass.snapshot.storage.k8s.io "${name}" not found`;
    const message = `Failed to get snapshot class with error ${missing}`;
    return failure(snapshot, { reason: "GetSnapshotClassFailed", message, keepsReady: true }, now);
  }
  if (source.volumeSnapshotContentName !== undefined || isGroupMember(snapshot)) return "done";
  const found = defaultClass(snapshot, lookups);
  if (found.ok)
    return oneStep(merged(snapshotKinds.VolumeSnapshot, snapshot, { spec: { volumeSnapshotClassName: found.value } }));
  const message = `Failed to set default snapshot class with error ${found.error}`;
  return failure(snapshot, { reason: "SetDefaultSnapshotClassFailed", message, keepsReady: true }, now);
}

function defaultClass(snapshot: VolumeSnapshot, lookups: SnapshotLookups): Resolved<string> {
  const claim = claimOf(snapshot, lookups);
  if (!claim.ok) return claim;
  const volume = volumeOf(claim.value, lookups);
  if (!volume.ok) return volume;
  const driver = volume.value.spec?.csi?.driver;
  if (driver === undefined) {
    const error = `snapshotting non-CSI volumes is not supported, snapshot:${keyOfObject(snapshot)}`;
    return { ok: false, error };
  }
  const defaults = lookups
    .classes()
    .filter((each) => each.driver === driver && each.metadata.annotations?.[annotations.defaultClass] === "true");
  const [first] = defaults;
  if (first === undefined) return { ok: false, error: "cannot find default snapshot class" };
  if (defaults.length > 1) return { ok: false, error: `${defaults.length} default snapshot classes were found` };
  return { ok: true, value: first.metadata.name ?? "" };
}
