/**
 * To which size a claim's volume is expanded now. Pure.
 *
 * 1. An expansion that may be under way at the driver or on a node is finished before another size is asked for.
 * 2. After a final error a smaller request is taken up: RecoverVolumeExpansionFailure.
 */
import { compareQuantities, parseQuantity, type Quantity, zeroQuantity } from "#api";
import type { Volume, VolumeClaim } from "../calls/volumes.ts";

export interface Resizing {
  /** As users wrote it, or as it was recorded. */
  readonly size: string;
  /** The claim's status does not say so yet. */
  readonly isNew: boolean;
}

export interface ResizeFacts {
  readonly claim: VolumeClaim;
  readonly volume: Volume;
  /** The last call to the driver ended with an error after which nothing runs. */
  readonly failedFinally: boolean;
  /** The driver itself expands volumes, as opposed to nodes alone. */
  readonly expandsByController: boolean;
}

/** Undefined: nothing is to be done by the driver's controller. */
export function wantedSize({ claim, volume, failedFinally, expandsByController }: ResizeFacts): Resizing | undefined {
  const { spec, status } = claim;
  const { claimRef } = volume.spec ?? {};
  if (status?.phase !== "Bound" || claimRef?.uid !== claim.metadata.uid) return undefined;
  const requested = spec?.resources?.requests?.storage;
  if (requested === undefined || compare(requested, status.capacity?.storage) <= 0) return undefined;
  const allocated = status.allocatedResources?.storage;
  const state = status.allocatedResourceStatuses?.storage;
  const resized = (size: string) => ({
    size,
    isNew: allocated === undefined || compare(allocated, size) !== 0 || state === undefined,
  });
  const volumeSize = volume.spec?.capacity?.storage;

  if (compare(volumeSize, requested) < 0) {
    switch (state) {
      case "NodeResizeInfeasible":
        return resized(allocated ?? requested);
      case "NodeResizePending":
      case "NodeResizeInProgress": {
        const size = allocated ?? requested;
        return compare(volumeSize, size) >= 0 ? undefined : resized(size);
      }
      case "ControllerResizeInProgress":
        return resized(failedFinally ? requested : (allocated ?? requested));
      default:
        return resized(requested);
    }
  }
  // The volume is large enough: what is left is to be recorded, or to be done on its node.
  switch (state) {
    case "NodeResizeInProgress":
    case "NodeResizePending":
      return undefined;
    case "NodeResizeInfeasible":
      return resized(expandsByController ? (allocated ?? requested) : requested);
    default:
      return resized(allocated ?? requested);
  }
}

function compare(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  return compareQuantities(quantity(a), quantity(b));
}

function quantity(text: string | undefined): Quantity {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}
