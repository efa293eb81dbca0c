/** The statuses of a claim whose volume is expanded, as writes. Pure. */
import { type core, kinds } from "#api";
import type { Write } from "#controllers";
import type { Volume, VolumeClaim } from "../calls/volumes.ts";

type Condition = core.PersistentVolumeClaimCondition;
type State = NonNullable<NonNullable<VolumeClaim["status"]>["allocatedResourceStatuses"]>[string];

/** On claims and volumes: the size before, until the file system has grown, too. */
export const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

const RESIZE_CONDITIONS = ["Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"];

export function inProgress(claim: VolumeClaim, size: string, now: string): Write {
  return statusWrite(claim, {
    conditions: conditionsWith(claim, { type: "Resizing", status: "True", lastTransitionTime: now }),
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: "ControllerResizeInProgress" satisfies State },
  });
}

export function waitsForNode(claim: VolumeClaim, now: string): Write {
  const message = "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";
  return statusWrite(claim, {
    conditions: conditionsWith(claim, {
      type: "FileSystemResizePending",
      status: "True",
      lastTransitionTime: now,
      message,
    }),
    allocatedResourceStatuses: { storage: "NodeResizePending" satisfies State },
  });
}

export function finished(claim: VolumeClaim, size: string): Write {
  return statusWrite(claim, {
    capacity: { storage: size },
    conditions: conditionsWith(claim),
    allocatedResourceStatuses: null,
  });
}

/** `isInfeasible`: the same call would fail again; it is repeated rarely. */
export function failed(claim: VolumeClaim, message: string, isInfeasible: boolean, now: string): Write {
  return statusWrite(claim, {
    conditions: conditionsWith(claim, {
      type: "ControllerResizeError",
      status: "True",
      lastTransitionTime: now,
      message,
    }),
    ...(isInfeasible && { allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" satisfies State } }),
  });
}

/** `oldSize`: of the claim, if the node has something to do. */
export function capacityWrite(volume: Volume, size: string, oldSize: string | undefined): Write {
  const annotations = oldSize === undefined ? undefined : { [PRE_RESIZE_CAPACITY]: oldSize };
  const has = volume.metadata.annotations?.[PRE_RESIZE_CAPACITY] !== undefined;
  const patch = {
    ...(annotations !== undefined && !has && { metadata: { annotations } }),
    spec: { capacity: { storage: size } },
  };
  return { verb: "patch", resource: kinds.PersistentVolume, type: "merge", object: volume, patch };
}

function conditionsWith({ status }: VolumeClaim, ...own: readonly Condition[]): readonly Condition[] {
  const others = (status?.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type));
  const kept = own.map((condition) => {
    const before = status?.conditions?.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return since === undefined ? condition : { ...condition, lastTransitionTime: since };
  });
  return [...others, ...kept];
}

function statusWrite(object: VolumeClaim, status: object): Write {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion: resourceVersion ?? null }, status } as Extract<
    Write,
    { verb: "patch" }
  >["patch"];
  return { verb: "patch", resource: kinds.PersistentVolumeClaim, type: "merge", object, patch, subresource: "status" };
}
