/** The class of a group snapshot: the one that it names, or the default class of its volumes' driver. */
import type { Plan } from "#controllers";
import { groupKinds, type VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import { annotations } from "../objects/names.ts";
import type { Resolved } from "../objects/secret-reference.ts";
import { keyOfObject } from "../objects/state.ts";
import { merged, oneStep } from "../objects/writes.ts";
import type { GroupLookups } from "./lookups.ts";
import { groupFailure } from "./status.ts";
import { groupVolumes } from "./volumes.ts";

/** "done": it has the class that it needs. Undefined: it waits for one. */
export function groupClassPlan(
  group: VolumeGroupSnapshot,
  lookups: GroupLookups,
  now: number,
): Plan | undefined | "done" {
  const { volumeGroupSnapshotClassName: name, source } = group.spec;
  const fail = (reason: string, message: string) => groupFailure(group, { reason, message, keepsReady: true }, now);
  if (name !== undefined) {
    if (lookups.class(name) !== undefined) return "done";
    const missing = `volumegroupsnapshotclass.groupsnapshot.storage.k8s.io "${name}" not found`;
    return fail("GetGroupSnapshotClassFailed", `failed to get group snapshot class with error ${missing}`);
  }
  if (source.volumeGroupSnapshotContentName !== undefined) return "done";
  const found = defaultClass(group, lookups);
  if (found.ok)
    return oneStep(
      merged(groupKinds.VolumeGroupSnapshot, group, { spec: { volumeGroupSnapshotClassName: found.value } }),
    );
  const message = `Failed to set default group snapshot class with error ${found.error}`;
  return fail("SetDefaultGroupSnapshotClassFailed", message);
}

function defaultClass(group: VolumeGroupSnapshot, lookups: GroupLookups): Resolved<string> {
  const volumes = groupVolumes(group, lookups);
  if (!volumes.ok) return volumes;
  const [{ spec }] = volumes.value;
  const driver = spec?.csi?.driver;
  if (driver === undefined) {
    const error = `snapshotting non-CSI volumes is not supported, group snapshot:${keyOfObject(group)}`;
    return { ok: false, error };
  }
  const defaults = lookups
    .classes()
    .filter((each) => each.driver === driver && each.metadata.annotations?.[annotations.defaultGroupClass] === "true");
  const [first] = defaults;
  if (first === undefined) return { ok: false, error: "cannot find default group snapshot class" };
  if (defaults.length > 1) return { ok: false, error: `${defaults.length} default snapshot classes were found` };
  return { ok: true, value: first.metadata.name ?? "" };
}
