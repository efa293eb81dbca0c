/**
 * The references between a volume and a claim.
 *
 * 1. The volume is written first, with a precondition: of two claims one gets it, and the other is reconciled again.
 * 2. Specs are written before statuses. Each run writes the next part, so an interruption loses nothing.
 * 3. The volume's phase is written by the volume's own run.
 */
import { equalJson, type Json, kinds, parseQuantity, QuantityError } from "#api";
import type { Plan, Write } from "../runtime/index.ts";
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  has,
  isFor,
  PRE_RESIZE_CAPACITY,
  type Volume,
  type VolumeClaim,
} from "./facts.ts";

export function bind(volume: Volume, claim: VolumeClaim): Plan {
  const links = [...volumeLink(volume, claim), ...claimLink(claim, volume)];
  if (links.length > 0) return { steps: links.map((write) => [write]) };
  return { steps: [claimStatus(claim, "Bound", volume)] };
}

/** Releases a volume that was bound here; a volume that a user reserved keeps its claimRef, without the uid. */
export function unbind(volume: Volume): Plan {
  const { claimRef, ...spec } = volume.spec ?? {};
  const { uid: _, resourceVersion: __, ...reference } = claimRef ?? {};
  const object = has(volume, BOUND_BY_CONTROLLER)
    ? { ...volume, metadata: { ...volume.metadata, annotations: without(volume, BOUND_BY_CONTROLLER) }, spec }
    : { ...volume, spec: { ...spec, claimRef: reference } };
  return { steps: [[{ verb: "update", resource: kinds.PersistentVolume, object }]] };
}

export function claimStatus(claim: VolumeClaim, phase: "Bound" | "Lost" | "Pending", volume?: Volume): Write[] {
  const { accessModes: _, capacity, currentVolumeAttributesClassName, ...rest } = claim.status ?? {};
  const entering = claim.status?.phase !== phase;
  const modes = volume?.spec?.accessModes;
  const size = volume === undefined ? undefined : entering ? capacityOf(volume) : capacity;
  const attributes = entering ? volume?.spec?.volumeAttributesClassName : currentVolumeAttributesClassName;
  const status: VolumeClaim["status"] = {
    ...rest,
    phase,
    ...(modes !== undefined && { accessModes: modes }),
    ...(size !== undefined && { capacity: size }),
    ...(volume !== undefined && attributes !== undefined && { currentVolumeAttributesClassName: attributes }),
  };
  if (equalJson(status as unknown as Json, (claim.status ?? {}) as unknown as Json)) return [];
  const object: VolumeClaim = { ...claim, status };
  return [{ verb: "updateStatus", resource: kinds.PersistentVolumeClaim, object }];
}

export function volumePhase(
  volume: Volume,
  phase: "Available" | "Bound" | "Failed" | "Released",
  message?: string,
): Write[] {
  if (volume.status?.phase === phase) return [];
  const { message: _, ...rest } = volume.status ?? {};
  const status = { ...rest, phase, ...(message !== undefined && { message }) };
  const object: Volume = { ...volume, status };
  return [{ verb: "updateStatus", resource: kinds.PersistentVolume, object }];
}

function volumeLink(volume: Volume, claim: VolumeClaim): Write[] {
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = claim.metadata;
  const linked = isFor(volume, claim);
  if (linked && volume.spec?.claimRef?.uid === uid) return [];
  const claimRef = { kind: "PersistentVolumeClaim", namespace, name, uid, apiVersion: "v1", resourceVersion };
  const annotations = linked ? volume.metadata.annotations : withAnnotation(volume, BOUND_BY_CONTROLLER);
  const metadata = { ...volume.metadata, ...(annotations !== undefined && { annotations }) };
  const object = { ...volume, metadata, spec: { ...volume.spec, claimRef } };
  return [{ verb: "update", resource: kinds.PersistentVolume, object }];
}

function claimLink(claim: VolumeClaim, volume: Volume): Write[] {
  const { name: volumeName = "" } = volume.metadata;
  const linked = claim.spec?.volumeName === volumeName;
  if (linked && has(claim, BIND_COMPLETED)) return [];
  const annotations = {
    ...(linked ? claim.metadata.annotations : withAnnotation(claim, BOUND_BY_CONTROLLER)),
    [BIND_COMPLETED]: claim.metadata.annotations?.[BIND_COMPLETED] ?? "yes",
  };
  const object = { ...claim, metadata: { ...claim.metadata, annotations }, spec: { ...claim.spec, volumeName } };
  return [{ verb: "update", resource: kinds.PersistentVolumeClaim, object }];
}

/** A volume that was expanded before its file system: the usable size is the former one. */
function capacityOf(volume: Volume): Readonly<Record<string, string>> | undefined {
  const before = volume.metadata.annotations?.[PRE_RESIZE_CAPACITY];
  if (before === undefined || !isQuantity(before)) return volume.spec?.capacity;
  return { ...volume.spec?.capacity, storage: before };
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

function withAnnotation({ metadata }: Volume | VolumeClaim, key: string): Readonly<Record<string, string>> {
  return { ...metadata.annotations, [key]: metadata.annotations?.[key] ?? "yes" };
}

function without({ metadata }: Volume, key: string): Readonly<Record<string, string>> {
  const { [key]: _, ...rest } = metadata.annotations ?? {};
  return rest;
}
