/**
 * VolumeAttachments and their names. A name is a function of volume and node, so that there is never a second
 * attachment of a volume to a node, and an attachment can be found without its PersistentVolume.
 */
import { createHash } from "node:crypto";
import { type CsiIdentity, csiIdentity, csiVolumeName, parseCsiVolumeName, type storage } from "#api";
import type { Volume } from "../persistent-volume/index.ts";

export type VolumeAttachment = storage.VolumeAttachment;

/** An attachment that this controller manages, with the name of its volume in the node's status. */
export interface Attachment {
  readonly volume: string;
  readonly object: VolumeAttachment;
}

export function attachmentName({ driver, volumeHandle }: CsiIdentity, node: string): string {
  return `csi-${createHash("sha256").update(`${volumeHandle}${driver}${node}`).digest("hex")}`;
}

export function newAttachment(volume: Volume, identity: CsiIdentity, nodeName: string): VolumeAttachment {
  return {
    metadata: { name: attachmentName(identity, nodeName) },
    spec: {
      attacher: identity.driver,
      nodeName,
      source: { persistentVolumeName: volume.metadata.name ?? "" },
    },
  };
}

/**
 * The attachments to a node, by the names of volumes in its status and by PersistentVolumes. Attachments with names of
 * their own belong to somebody else.
 */
export function attachmentsOf(
  nodeName: string,
  objects: readonly VolumeAttachment[],
  attached: readonly string[],
  volumeOf: (name: string) => Volume | undefined,
): readonly Attachment[] {
  const byName = new Map<string, string>();
  for (const volume of attached) {
    const identity = parseCsiVolumeName(volume);
    if (identity !== undefined) byName.set(attachmentName(identity, nodeName), volume);
  }
  return objects.flatMap((object) => {
    const { name = "" } = object.metadata;
    const volume = byName.get(name) ?? volumeNameOf(object, volumeOf);
    return volume === undefined ? [] : [{ volume, object }];
  });
}

function volumeNameOf(
  { metadata, spec }: VolumeAttachment,
  volumeOf: (name: string) => Volume | undefined,
): string | undefined {
  const volume = volumeOf(spec.source.persistentVolumeName ?? "");
  const identity = volume && csiIdentity(volume);
  if (identity === undefined || attachmentName(identity, spec.nodeName) !== metadata.name) return undefined;
  return csiVolumeName(identity);
}

export function isAttached({ metadata, status }: VolumeAttachment): boolean {
  return status?.attached === true && metadata.deletionTimestamp === undefined;
}

export function isLeaving({ metadata }: VolumeAttachment): boolean {
  return metadata.deletionTimestamp !== undefined;
}
