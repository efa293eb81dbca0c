/**
 * The next writes for a claim.
 *
 *     not bound yet    names a volume           that one, if it is available and fits
 *                      names none               the best available one; else the default class, or provisioning
 *     bound before     its volume exists        repair the references
 *                      its volume is gone       Lost: the data cannot be restored
 */
import { hasStorageClass, kinds, storageClassOf } from "#api";
import type { RecordedEvent } from "#client";
import type { Plan } from "../runtime/index.ts";
import { bestVolume, misfit } from "./best-volume.ts";
import { bind, claimStatus } from "./binding.ts";
import {
  BIND_COMPLETED,
  delaysBinding,
  has,
  isFor,
  SELECTED_NODE,
  type StorageClass,
  type Volume,
  type VolumeClaim,
} from "./facts.ts";
import { migratedClaim } from "./migration.ts";
import { provision } from "./provisioning.ts";

export interface ClaimView {
  readonly claim: VolumeClaim;
  /** The class that the claim names. */
  readonly storageClass: StorageClass | undefined;
  readonly defaultClass: StorageClass | undefined;
  /** Without it, claims wait for volumes that administrators create. */
  readonly dynamicProvisioning: boolean;
  /** The volume that the claim names. */
  readonly named: Volume | undefined;
  /** Volumes reserved for the claim, and available ones of its class. */
  readonly candidates: readonly Volume[];
  /** Names of unscheduled Pods that use the claim. */
  readonly waitingPods: readonly string[];
}

export function planClaim(view: ClaimView): Plan {
  const { claim } = view;
  const migrated = migratedClaim(claim);
  if (migrated !== undefined) return { steps: [[migrated]] };
  if (has(claim, BIND_COMPLETED)) return planBound(view);
  return (claim.spec?.volumeName ?? "") === "" ? planAny(view) : planNamed(view);
}

function planAny(view: ClaimView): Plan {
  const { claim, storageClass, defaultClass, candidates, waitingPods, dynamicProvisioning } = view;
  const delayed = delaysBinding(storageClass);
  const volume = bestVolume(claim, candidates, !delayed);
  if (volume !== undefined) return bind(volume, claim);
  if (!hasStorageClass(claim) && defaultClass !== undefined) {
    const object: VolumeClaim = {
      ...claim,
      spec: { ...claim.spec, storageClassName: defaultClass.metadata.name ?? "" },
    };
    return { steps: [[{ verb: "update", resource: kinds.PersistentVolumeClaim, object }]] };
  }
  if (delayed && !has(claim, SELECTED_NODE)) return pending(claim, waitingFor(claim, waitingPods));
  if (storageClassOf(claim) !== "") return dynamicProvisioning ? provision(claim, storageClass) : {};
  const note = "no persistent volumes available for this claim and no storage class is set";
  return pending(claim, { about: claim, type: "Normal", reason: "FailedBinding", note });
}

function planNamed({ claim, named }: ClaimView): Plan {
  if (named === undefined) return pending(claim);
  if (isFor(named, claim)) return bind(named, claim);
  const { name = "" } = named.metadata;
  if (named.spec?.claimRef !== undefined) {
    const note = `volume "${name}" already bound to a different claim.`;
    return pending(claim, { about: claim, type: "Warning", reason: "FailedBinding", note });
  }
  const why = misfit(named, claim);
  if (why === undefined) return bind(named, claim);
  const note = `Cannot bind to requested volume "${name}": ${why}`;
  return pending(claim, { about: claim, type: "Warning", reason: "VolumeMismatch", note });
}

function planBound({ claim, named }: ClaimView): Plan {
  const lost = "Data on the volume is lost!";
  if ((claim.spec?.volumeName ?? "") === "")
    return loses(claim, "ClaimLost", `Bound claim has lost reference to PersistentVolume. ${lost}`);
  if (named === undefined) return loses(claim, "ClaimLost", `Bound claim has lost its PersistentVolume. ${lost}`);
  const { claimRef } = named.spec ?? {};
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bind(named, claim);
  return loses(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

function pending(claim: VolumeClaim, ...events: RecordedEvent[]): Plan {
  return { steps: [claimStatus(claim, "Pending")], events };
}

function loses(claim: VolumeClaim, reason: string, note: string): Plan {
  if (claim.status?.phase === "Lost") return {};
  const event = { about: claim, type: "Warning", reason, note } as const;
  return { steps: [claimStatus(claim, "Lost")], eventFor: (_, { ok }) => (ok ? event : undefined) };
}

function waitingFor(about: VolumeClaim, pods: readonly string[]): RecordedEvent {
  if (pods.length === 0) {
    const note = "waiting for first consumer to be created before binding";
    return { about, type: "Normal", reason: "WaitForFirstConsumer", note };
  }
  const note = `waiting for ${pods.length > 1 ? "pods" : "pod"} ${pods.join(",")} to be scheduled`;
  return { about, type: "Normal", reason: "WaitForPodScheduled", note };
}
