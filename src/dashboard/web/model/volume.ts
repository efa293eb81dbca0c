/** Claims and volumes: their state in a word, and the chain from a claim to the Pods that use it. */
import type { core, storage } from "#api";
import type { Tone } from "./pod.ts";
import { quantity } from "./quantity.ts";

export interface VolumeState {
  readonly word: string;
  readonly tone: Tone;
}

export function claimState({ metadata, spec, status }: core.PersistentVolumeClaim): VolumeState {
  if (metadata?.deletionTimestamp !== undefined) return { word: "Terminating", tone: "busy" };
  if (status?.phase === "Lost") return { word: "Lost", tone: "bad" };
  if (status?.phase !== "Bound") return { word: "Pending", tone: "busy" };
  const stage = status.allocatedResourceStatuses?.storage;
  if (stage?.endsWith("Infeasible") === true) return { word: "cannot grow", tone: "bad" };
  const grows = quantity(spec?.resources?.requests?.storage) > quantity(status.capacity?.storage);
  return grows ? { word: "Bound, growing", tone: "busy" } : { word: "Bound", tone: "good" };
}

export function volumeState({ metadata, status }: core.PersistentVolume): VolumeState {
  if (metadata?.deletionTimestamp !== undefined) return { word: "Terminating", tone: "busy" };
  const word = status?.phase ?? "Pending";
  return {
    word,
    tone: ({ Bound: "good", Available: "good", Failed: "bad", Released: "quiet" }[word as string] as Tone) ?? "busy",
  };
}

export function attachmentState({ status }: storage.VolumeAttachment): VolumeState {
  const error = status?.attachError?.message ?? status?.detachError?.message;
  if (error !== undefined) return { word: error, tone: "bad" };
  return status?.attached === true ? { word: "attached", tone: "good" } : { word: "attaching", tone: "busy" };
}

/** How a volume is made: `CSI disk.example.com`, `host path`, `NFS`. */
export function sourceOf({ spec }: core.PersistentVolume): string {
  const { csi, hostPath, nfs, local } = spec ?? {};
  if (csi !== undefined) return csi.driver;
  if (hostPath !== undefined) return `host path ${hostPath.path}`;
  if (nfs !== undefined) return `NFS ${nfs.server}:${nfs.path}`;
  return local === undefined ? "another source" : `local ${local.path}`;
}

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

export function modesOf(modes: readonly string[] = []): string {
  return modes.map((mode) => MODES[mode] ?? mode).join(", ");
}

interface PodLike {
  readonly metadata?: { readonly name?: string; readonly namespace?: string } | undefined;
  readonly spec?: core.PodSpec | undefined;
  readonly status?: core.PodStatus | undefined;
}

/** Pods that have not ended, also those with an ephemeral volume that the claim was made for. */
export function podsUsing<T extends PodLike>(pods: Iterable<T>, namespace: string, claim: string): T[] {
  return [...pods].filter(
    ({ metadata, spec, status }) =>
      metadata?.namespace === namespace &&
      status?.phase !== "Succeeded" &&
      status?.phase !== "Failed" &&
      (spec?.volumes ?? []).some(
        ({ name, persistentVolumeClaim, ephemeral }) =>
          persistentVolumeClaim?.claimName === claim ||
          (ephemeral !== undefined && `${metadata.name}-${name}` === claim),
      ),
  );
}
