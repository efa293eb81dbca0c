/** Which VolumeAttributesClass a volume still has to get, and the statuses on the way. Pure. */
import { type core, kinds } from "#api";
import type { Write } from "#controllers";
import type { Volume, VolumeClaim } from "../calls/volumes.ts";

type Condition = core.PersistentVolumeClaimCondition;

const CONDITIONS = ["ModifyingVolume", "ModifyVolumeError"];

export type Wanted =
  /** Nothing to do. */
  | { readonly type: "none" }
  /** The user has taken back a class that is infeasible. */
  | { readonly type: "forget" }
  | { readonly type: "modify"; readonly className: string; readonly isRepeated: boolean };

export function wantedClass({ metadata, spec, status }: VolumeClaim, volume: Volume | undefined): Wanted {
  const { volumeAttributesClassName: className = "", volumeName = "" } = spec ?? {};
  const { currentVolumeAttributesClassName: current = "", modifyVolumeStatus } = status ?? {};
  if (volume === undefined || volumeName === "" || status?.phase !== "Bound") return { type: "none" };
  if (volume.spec?.claimRef?.uid !== metadata.uid) return { type: "none" };
  if (className === "" || className === current)
    return modifyVolumeStatus !== undefined && className === current ? { type: "forget" } : { type: "none" };
  const isRepeated = modifyVolumeStatus?.targetVolumeAttributesClassName === className;
  return { type: "modify", className, isRepeated };
}

/** The class does not exist yet. */
export function pending(claim: VolumeClaim, className: string): Write {
  return statusWrite(claim, { modifyVolumeStatus: { status: "Pending", targetVolumeAttributesClassName: className } });
}

export function inProgress(claim: VolumeClaim, className: string, now: string): Write {
  return statusWrite(claim, {
    modifyVolumeStatus: { status: "InProgress", targetVolumeAttributesClassName: className },
    conditions: conditionsWith(claim, "ModifyingVolume", "ModifyVolume operation in progress.", now),
  });
}

/** `isInfeasible`: the same class would be refused again. */
export function failed(claim: VolumeClaim, className: string, why: string, isInfeasible: boolean, now: string): Write {
  const message = `ModifyVolume failed with error: ${why}. Waiting for retry.`;
  return statusWrite(claim, {
    conditions: conditionsWith(claim, "ModifyVolumeError", message, now),
    ...(isInfeasible && {
      modifyVolumeStatus: { status: "Infeasible", targetVolumeAttributesClassName: className },
    }),
  });
}

/** The volume first: it says which attributes it has. */
export function completed(claim: VolumeClaim, volume: Volume, className: string): Write[][] {
  const patch = { spec: { volumeAttributesClassName: className } };
  return [
    [{ verb: "patch", resource: kinds.PersistentVolume, type: "merge", object: volume, patch }],
    [statusWrite(claim, { currentVolumeAttributesClassName: className, ...cleared(claim) })],
  ];
}

export function forgotten(claim: VolumeClaim): Write {
  return statusWrite(claim, cleared(claim));
}

function cleared({ status }: VolumeClaim) {
  const conditions = (status?.conditions ?? []).filter(({ type }) => !CONDITIONS.includes(type));
  return { modifyVolumeStatus: null, conditions };
}

function conditionsWith({ status }: VolumeClaim, type: string, message: string, now: string): readonly Condition[] {
  const others = (status?.conditions ?? []).filter((condition) => !CONDITIONS.includes(condition.type));
  const since = status?.conditions?.find((condition) => condition.type === type)?.lastTransitionTime ?? now;
  return [...others, { type, status: "True", lastTransitionTime: since, message }];
}

function statusWrite(object: VolumeClaim, status: object): Write {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion: resourceVersion ?? null }, status } as Extract<
    Write,
    { verb: "patch" }
  >["patch"];
  return { verb: "patch", resource: kinds.PersistentVolumeClaim, type: "merge", object, patch, subresource: "status" };
}
