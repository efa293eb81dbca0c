/**
 * Deletes the released volumes that the driver has made.
 *
 *     released volumes --► not attached any more? ──► DeleteVolume ══► the PersistentVolume, then its finalizer
 *
 * 1. A volume to be deleted with its claim has a finalizer while it is bound, so that deleting the PersistentVolume
 *    first does not leave its storage behind. A volume with another policy has none.
 * 2. A secret that is gone does not keep a volume: the driver decides.
 */
import { type core, kinds, type storage } from "#api";
import type { Client } from "#client";
import { type Controller, changesOf, defineController, keysFrom, type Plan, type Write } from "#controllers";
import type { DriverAccess } from "../calls/driver-access.ts";
import { messageOf } from "../calls/final-errors.ts";
import { Retries } from "../calls/retries.ts";
import { readSecret, secretReference } from "../calls/secrets.ts";
import {
  addFinalizer,
  hasFinalizer,
  isOfDriver,
  nodeOfVolume,
  PROVISIONED_BY,
  removeFinalizer,
  type Volume,
} from "../calls/volumes.ts";
import { DELETION_SECRET_NAME, DELETION_SECRET_NAMESPACE, PROVISIONER_FINALIZER } from "./volume.ts";

export interface DeletionOptions {
  readonly access: DriverAccess;
  readonly account: string;
  readonly concurrency: number;
}

export const volumeDeletion = ({ access, account, concurrency }: DeletionOptions): Controller =>
  defineController({
    name: "csi-volume-deletion",
    account,
    reportsAs: access.name,
    concurrency,
    bind({ cache, client, clock, random, log }) {
      const volumes = cache(kinds.PersistentVolume);
      const classes = cache(kinds.StorageClass);
      const attachments = cache(kinds.VolumeAttachment);
      const attachmentsOf = attachments.index("volume", ({ spec }) => [spec.source.persistentVolumeName ?? ""]);
      const retries = new Retries(clock, random);
      const isOurs = (volume: Volume) =>
        volume.metadata.annotations?.[PROVISIONED_BY] === access.name && isOfDriver(volume, access.name);

      return {
        sources: [
          changesOf(kinds.PersistentVolume, ({ type, object }) => type !== "deleted" && isOurs(object)),
          keysFrom(kinds.VolumeAttachment, ({ type, object }) => {
            const name = object.spec.source.persistentVolumeName;
            if (type !== "deleted" || name === undefined) return [];
            retries.forget(name);
            return [name];
          }),
        ],
        async reconcile(key, _now, signal): Promise<Plan | undefined> {
          const volume = volumes.get(key);
          if (volume === undefined || !isOurs(volume)) {
            retries.forget(key);
            return undefined;
          }
          if (!isToBeDeleted(volume)) {
            const write = finalizerWrite(volume);
            return write && { steps: [[write]] };
          }
          const waitMs = retries.waitMs(key);
          if (waitMs > 0) return { againAfterMs: waitMs };
          try {
            const [attached] = attachmentsOf(key);
            if (attached !== undefined)
              throw new Error(`persistentvolume ${key} is still attached to node ${attached.spec.nodeName}`);
            const secrets = await deletionSecrets(
              volume,
              classes.get(volume.spec?.storageClassName ?? ""),
              client,
              signal,
            ).catch((error: unknown) => {
              if (signal.aborted) throw error;
              log.warn("the secrets for a volume cannot be read; it is deleted without them", { volume: key, error });
              return undefined;
            });
            const driver = access.at(nodeOfVolume(volume, access.nodeTopologyKey));
            const request = { volumeId: volume.spec?.csi?.volumeHandle ?? "", ...(secrets && { secrets }) };
            await driver.Controller.DeleteVolume(request, access.limits(signal));
          } catch (error) {
            if (signal.aborted) throw error;
            const about = volume;
            const event = { about, type: "Warning", reason: "VolumeFailedDelete", note: messageOf(error) } as const;
            return { events: [event], againAfterMs: retries.failed(key) };
          }
          retries.forget(key);
          return {
            steps: [[{ verb: "delete", resource: kinds.PersistentVolume, object: volume }], [unprotect(volume)]],
          };
        },
        run: (signal, enqueue) =>
          access.follow(signal, () => {
            for (const key of retries.wake()) enqueue(key);
          }),
      };
    },
  });

/** Pure. */
export function isToBeDeleted(volume: Volume): boolean {
  const { deletionTimestamp } = volume.metadata;
  // Deleted already, and on its way out.
  if (deletionTimestamp !== undefined && !hasFinalizer(volume, PROVISIONER_FINALIZER)) return false;
  return volume.status?.phase === "Released" && volume.spec?.persistentVolumeReclaimPolicy === "Delete";
}

/** The write that puts the finalizer right; undefined if it is. Pure. */
export function finalizerWrite(volume: Volume): Write | undefined {
  const { spec, status, metadata } = volume;
  const has = hasFinalizer(volume, PROVISIONER_FINALIZER);
  const deletes = spec?.persistentVolumeReclaimPolicy === "Delete";
  if (has && !deletes) return unprotect(volume);
  if (has || !deletes || metadata.deletionTimestamp !== undefined || status?.phase !== "Bound") return undefined;
  return {
    verb: "patch",
    resource: kinds.PersistentVolume,
    object: volume,
    patch: addFinalizer(PROVISIONER_FINALIZER),
  };
}

function unprotect(object: Volume): Write {
  return { verb: "patch", resource: kinds.PersistentVolume, object, patch: removeFinalizer(PROVISIONER_FINALIZER) };
}

async function deletionSecrets(
  { metadata, spec }: Volume,
  storageClass: storage.StorageClass | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const { [DELETION_SECRET_NAME]: name, [DELETION_SECRET_NAMESPACE]: namespace } = metadata.annotations ?? {};
  if (name === "" && namespace === "") return undefined;
  if (name !== undefined && namespace !== undefined) return readSecret(client, { name, namespace }, signal);
  const claim: core.PersistentVolumeClaim = {
    metadata: { name: spec?.claimRef?.name ?? "", namespace: spec?.claimRef?.namespace ?? "" },
  };
  const subject = { volumeName: metadata.name ?? "", claim };
  return readSecret(client, secretReference("provisioner", storageClass?.parameters ?? {}, subject), signal);
}
