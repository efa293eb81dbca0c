/** What an attachment needs before and after a call to the driver, as writes. Pure. */
import { kinds, type storage } from "#api";
import type { Write } from "#controllers";
import { addFinalizer, hasFinalizer, removeFinalizer, type Volume } from "../calls/volumes.ts";

export type VolumeAttachment = storage.VolumeAttachment;

/** What the node was called when the volume was attached: needed if its CSINode is gone at detaching. */
export const NODE_ID = "csi.alpha.kubernetes.io/node-id";
/** Kubernetes' longest message in a status. */
const MAX_MESSAGE = 1024;

/** Characters that a finalizer may not have become dashes. */
export function attacherFinalizer(driverName: string): string {
  const name = driverName.replaceAll(/[^a-zA-Z0-9-]/g, "-");
  return `external-attacher/${name.endsWith("-") ? `${name}X` : name}`;
}

export interface Source {
  readonly spec: NonNullable<Volume["spec"]>;
  /** Undefined: an inline volume of the attachment. */
  readonly volume?: Volume | undefined;
}

/** The volume of an attachment. Throws for sources that the driver cannot attach. */
export function sourceOf({ spec }: VolumeAttachment, volumeOf: (name: string) => Volume | undefined): Source {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = spec.source;
  if (name !== undefined && inline !== undefined)
    throw new Error("both InlineCSIVolumeSource and PersistentVolumeName specified in VA source");
  if (inline !== undefined) {
    if (inline.csi === undefined) throw new Error("inline volume spec contains nil CSI source");
    return { spec: inline };
  }
  if (name === undefined)
    throw new Error("neither InlineCSIVolumeSource nor PersistentVolumeName specified in VA source");
  const volume = volumeOf(name);
  if (volume === undefined) throw new Error(`persistentvolume "${name}" not found`);
  if (volume.spec?.csi === undefined) throw new Error("pv spec contained non-csi source that was not migrated");
  return { spec: volume.spec, volume };
}

/** Throws if the driver is not on the node; `attachment`: what is known from attaching counts, too. */
export function nodeIdOf(
  driverName: string,
  nodeName: string,
  csiNode: storage.CSINode | undefined,
  attachment?: VolumeAttachment,
): string {
  const found = csiNode?.spec.drivers?.find(({ name }) => name === driverName)?.nodeID;
  const id = found ?? attachment?.metadata.annotations?.[NODE_ID];
  if (id !== undefined) return id;
  throw new Error(
    csiNode === undefined
      ? `csinode "${nodeName}" not found`
      : `CSINode ${nodeName} does not contain driver ${driverName}`,
  );
}

/** Before the driver is called: volume and attachment must not vanish while it may be attached. */
export function protectionWrites(
  object: VolumeAttachment,
  { volume }: Source,
  finalizer: string,
  nodeId: string,
): Write[] {
  const isMarked = hasFinalizer(object, finalizer) && object.metadata.annotations?.[NODE_ID] === nodeId;
  const marks = { metadata: { ...addFinalizer(finalizer).metadata, annotations: { [NODE_ID]: nodeId } } };
  return [
    ...(volume === undefined || hasFinalizer(volume, finalizer)
      ? []
      : [{ verb: "patch", resource: kinds.PersistentVolume, object: volume, patch: addFinalizer(finalizer) } as const]),
    ...(isMarked ? [] : [{ verb: "patch", resource: kinds.VolumeAttachment, object, patch: marks } as const]),
  ];
}

export function attachedWrite(object: VolumeAttachment, context: Readonly<Record<string, string>>): Write {
  const attachmentMetadata = Object.keys(context).length === 0 ? null : { ...context };
  return statusWrite(object, { attached: true, attachmentMetadata, attachError: null });
}

/** Lets the attachment go; those whom else it waits for see that it is detached. */
export function detachedWrites(object: VolumeAttachment, finalizer: string): Write[][] {
  const { finalizers = [] } = object.metadata;
  const release: Write = {
    verb: "patch",
    resource: kinds.VolumeAttachment,
    object,
    patch: removeFinalizer(finalizer),
  };
  if (finalizers.every((each) => each === finalizer)) return [[release]];
  return [[statusWrite(object, { attached: false, attachmentMetadata: null, detachError: null })], [release]];
}

export function failureWrite(
  object: VolumeAttachment,
  field: "attachError" | "detachError",
  { message, time, errorCode }: { message: string; time: string; errorCode?: number | undefined },
): Write {
  const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message;
  return statusWrite(object, { [field]: { message: text, time, ...(errorCode !== undefined && { errorCode }) } });
}

function statusWrite(object: VolumeAttachment, more: NonNullable<Extract<Write, { verb: "patch" }>["patch"]>): Write {
  const attached = object.status?.attached ?? false;
  const patch = { status: { attached, ...more } };
  return { verb: "patch", resource: kinds.VolumeAttachment, type: "merge", object, patch, subresource: "status" };
}
