/**
 * The next writes for a volume: its phase follows from its claim, and when that is gone, its reclaim policy applies.
 *
 *     no claim, or one that does not exist yet          Available
 *     its claim is bound to it                          Bound
 *     its claim is gone, or has another volume          Released, then by policy; or available, if it was bound here
 */
import type { RecordedEvent } from "#client";
import type { Plan } from "../runtime/index.ts";
import { sameMode } from "./best-volume.ts";
import { unbind, volumePhase } from "./binding.ts";
import { has, PROVISIONED_BY, type Volume, type VolumeClaim } from "./facts.ts";
import { migratedVolume } from "./migration.ts";
import { reclaim } from "./reclaim.ts";

/** `claim`: the claim with the uid in the claimRef, if it exists. */
export function planVolume(volume: Volume, claim: VolumeClaim | undefined): Plan {
  const migrated = migratedVolume(volume);
  if (migrated !== undefined) return { steps: [[migrated]] };
  const { claimRef, persistentVolumeReclaimPolicy: policy } = volume.spec ?? {};
  if (claimRef === undefined || (claimRef.uid ?? "") === "") return { steps: [volumePhase(volume, "Available")] };
  if (claim === undefined) return release(volume);
  const { volumeName = "" } = claim.spec ?? {};
  if (volumeName === volume.metadata.name) return { steps: [volumePhase(volume, "Bound")] };
  // The claim's own run repairs the references, unless it never will.
  if (volumeName === "") return sameMode(volume, claim) ? {} : { events: mismatch(volume, claim) };
  return has(volume, PROVISIONED_BY) && policy === "Delete" ? release(volume) : unbind(volume);
}

/** A failed volume stays Failed, so that users see the reason. */
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
