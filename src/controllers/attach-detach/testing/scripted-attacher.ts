/** An attacher of a CSI driver, as a test plays it: it attaches and detaches when it is told to work. */
import { type core, kinds } from "#api";
import type { Client } from "#client";
import type { VolumeAttachment } from "../attachments.ts";

const FINALIZER = "external-attacher/example-com";

export interface ScriptedAttacher {
  /** Attaches what is asked for and detaches what is deleted; `error` makes attaching fail. */
  work(error?: string): Promise<void>;
  /** As `node attached`, `node leaving` and so on. */
  shown(): Promise<readonly string[]>;
}

export function scriptedAttacher(client: Client): ScriptedAttacher {
  const attachments = client.of(kinds.VolumeAttachment);
  const workOn = async (object: VolumeAttachment, error: string | undefined) => {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined) {
      const left = finalizers.filter((each) => each !== FINALIZER);
      await attachments.update({ ...object, metadata: { ...object.metadata, finalizers: left } });
      return;
    }
    const metadata = { ...object.metadata, finalizers: [FINALIZER] };
    const held = finalizers.includes(FINALIZER) ? object : await attachments.update({ ...object, metadata });
    if (object.status?.attached === true) return;
    const status = error === undefined ? { attached: true } : { attached: false, attachError: { message: error } };
    await attachments.updateStatus({ ...held, status });
  };
  return {
    async work(error) {
      for (const object of (await attachments.list()).items) await workOn(object, error);
    },
    async shown() {
      return (await attachments.list()).items.map(({ metadata, spec, status }) => {
        if (metadata.deletionTimestamp !== undefined) return `${spec.nodeName} leaving`;
        return `${spec.nodeName} ${status?.attached === true ? "attached" : "waiting"}`;
      });
    },
  };
}

/** A bound claim of this name, and its CSI volume `pv-NAME`. */
export async function boundClaim(
  client: Client,
  name: string,
  spec: Partial<core.PersistentVolumeSpec> = {},
): Promise<void> {
  const both = { accessModes: ["ReadWriteOnce"] as const, storageClassName: "" };
  await client.of(kinds.PersistentVolume).create({
    metadata: { name: `pv-${name}` },
    spec: {
      ...both,
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver: "example.com", volumeHandle: name },
      claimRef: { namespace: "default", name },
      ...spec,
    },
  });
  const resources = { requests: { storage: "1Gi" } };
  await client
    .of(kinds.PersistentVolumeClaim)
    .in("default")
    .create({ metadata: { name }, spec: { ...both, accessModes: spec.accessModes ?? both.accessModes, resources } });
}
