/**
 * What is next for a volume: its phase follows from the claim that it is for, and when that is gone, its reclaim policy is carried out.
 *
 *     for nobody, or for a claim that is yet to come    Available
 *     its claim is bound to it                          Bound
 *     its claim is gone, or has another volume          Released, then as the policy says; or free again, if it was linked here
 */
import type { RecordedEvent } from "#client";
import type { Plan } from "../runtime/index.ts";
import { sameMode } from "./best-volume.ts";
import { unbind, volumePhase } from "./binding.ts";
import { has, PROVISIONED_BY, type Volume, type VolumeClaim } from "./facts.ts";
import { reclaim } from "./reclaim.ts";

/** `claim`: the one with the uid that the volume names, if there is one. */
export function planVolume(volume: Volume, claim: VolumeClaim | undefined): Plan {
  const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return { steps: [volumePhase(volume, "Available")] };
  if (claim === undefined) return release(volume);
  const { volumeName = "" } = claim.spec ?? {};
  if (volumeName === volume.metadata.name) return { steps: [volumePhase(volume, "Bound")] };
  // The claim's own run makes the link whole, unless it never will.
  if (volumeName === "") return sameMode(volume, claim) ? {} : { events: mismatch(volume, claim) };
  return has(volume, PROVISIONED_BY) && policy === "Delete" ? release(volume) : unbind(volume);
}

/** A volume that failed stays so, for users to see what went wrong. */
function release(volume: Volume): Plan {
  const { phase } = volume.status ?? {};
  if (phase !== "Released" && phase !== "Failed") return { steps: [volumePhase(volume, "Released")] };
  return reclaim(volume);
}

function mismatch(volume: Volume, claim: VolumeClaim): readonly RecordedEvent[] {
  const both = { type: "Warning", reason: "VolumeMismatch" } as const;
  const asked = `requested PersistentVolumeClaim`;
  const why = "due to incompatible volumeMode.";
  return [
    { ...both, about: volume, note: `Cannot bind PersistentVolume to ${asked} "${claim.metadata.name ?? ""}" ${why}` },
    { ...both, about: claim, note: `Cannot bind PersistentVolume "${volume.metadata.name ?? ""}" to ${asked} ${why}` },
  ];
}
