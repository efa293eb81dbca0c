/**
 * Applies the reclaim policy of a released volume.
 *
 *     Retain     nothing: an administrator decides
 *     Delete     the provisioner deletes it. Of the plugins without one, only hostPath can be deleted: the object is
 *                deleted, the files on the nodes stay
 *     Recycle    fails: no plugin here recycles volumes
 */
import { kinds } from "#api";
import type { Plan } from "../runtime/index.ts";
import { volumePhase } from "./binding.ts";
import { MIGRATED_TO, PROVISIONED_BY, type Volume } from "./facts.ts";
import { IN_TREE_FINALIZER, withoutInTreeFinalizer } from "./migration.ts";
import { isDrivenElsewhere } from "./provisioning.ts";

const HOST_PATH = "kubernetes.io/host-path";

export function reclaim(volume: Volume): Plan {
  if ((volume.metadata.annotations?.[MIGRATED_TO] ?? "") !== "") return {};
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case "Delete":
      return deleteVolume(volume);
    case "Recycle":
      return fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!");
    default:
      return {};
  }
}

function deleteVolume(volume: Volume): Plan {
  const { name = "", annotations, finalizers = [] } = volume.metadata;
  const plugin = annotations?.[PROVISIONED_BY] ?? "";
  const { hostPath } = volume.spec ?? {};
  if (plugin !== "" && isDrivenElsewhere(plugin)) return {};
  if (plugin !== "" && plugin !== HOST_PATH)
    return fail(volume, "VolumeFailedDelete", `no volume plugin matched name: ${plugin}`);
  if (hostPath === undefined) {
    const why = isKnownPlugin(volume) ? "no deletable volume plugin matched" : "no volume plugin matched";
    return fail(volume, "VolumeFailedDelete", `error getting deleter volume plugin for volume "${name}": ${why}`);
  }
  if (!/\/tmp\/.+/.test(hostPath.path)) {
    const note = `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`;
    return fail(volume, "VolumeFailedDelete", note);
  }
  if (finalizers.includes(IN_TREE_FINALIZER)) return { steps: [[withoutInTreeFinalizer(volume)]] };
  if (volume.metadata.deletionTimestamp !== undefined) return {};
  return { steps: [[{ verb: "delete", resource: kinds.PersistentVolume, object: volume }]] };
}

/** The controller has a plugin for such volumes, though none that deletes them. */
function isKnownPlugin({ spec }: Volume): boolean {
  return spec?.nfs !== undefined || spec?.local !== undefined;
}

function fail(volume: Volume, reason: string, note: string): Plan {
  const event = { about: volume, type: "Warning", reason, note } as const;
  return { steps: [volumePhase(volume, "Failed", note)], eventFor: (_, { ok }) => (ok ? event : undefined) };
}
