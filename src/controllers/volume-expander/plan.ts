/**
 * Who expands the volume of a claim: always somebody else. Users are told so, and the claim of an in-tree volume is
 * handed to the resizer of the CSI driver that replaces its plugin, by an annotation.
 */
import {
  compareQuantities,
  type core,
  kinds,
  migratedDriver,
  migratedPlugin,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from "#api";
import type { RecordedEvent } from "#client";
import type { Plan } from "../runtime/index.ts";

type Volume = core.PersistentVolume;
type VolumeClaim = core.PersistentVolumeClaim;

const RESIZER = "volume.kubernetes.io/storage-resizer";
/** On volumes that were expanded before their file systems: the former size. */
const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

export function planExpansion(claim: VolumeClaim, volume: Volume): Plan | undefined {
  const isPending = compareQuantities(requestOf(claim), capacityOf(claim)) > 0;
  if (!isPending && volume.metadata.annotations?.[PRE_RESIZE_CAPACITY] === undefined) return undefined;
  const plugin = migratedPlugin(volume);
  if (plugin === undefined)
    return { events: [expanding(claim, "waiting for an external controller to expand this PVC")] };
  const events = [
    expanding(claim, `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`),
  ];
  const resizer = migratedDriver(plugin) ?? "";
  if (claim.metadata.annotations?.[RESIZER] === resizer) return { events };
  const patch = { metadata: { annotations: { [RESIZER]: resizer } } };
  const resource = kinds.PersistentVolumeClaim;
  return { events, steps: [[{ verb: "patch", resource, object: claim, type: "merge", patch, subresource: "status" }]] };
}

/** The volume that the claim is bound to, by both references. */
export function isBoundTo({ metadata }: VolumeClaim, { spec }: Volume): boolean {
  return spec?.claimRef?.uid === metadata.uid && spec?.claimRef?.namespace === metadata.namespace;
}

export function requestOf({ spec }: VolumeClaim): Quantity {
  return quantity(spec?.resources?.requests?.storage);
}

export function capacityOf({ status }: VolumeClaim): Quantity {
  return quantity(status?.capacity?.storage);
}

function quantity(text: string | undefined): Quantity {
  return text === undefined ? zeroQuantity : parseQuantity(text);
}

function expanding(about: VolumeClaim, note: string): RecordedEvent {
  return { about, type: "Normal", reason: "ExternalExpanding", note };
}
