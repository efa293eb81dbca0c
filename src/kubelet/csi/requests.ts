/** From a Pod and its volume to what a driver is asked for. Pure. */
import { type core, csiVolumeName, type storage } from "#api";
import { AccessMode, type CsiSent } from "#storage/csi";
import { attachmentName, inlineHandle } from "./paths.ts";
import { labelOption } from "./selinux.ts";

export interface CsiRequest {
  readonly pod: core.Pod;
  readonly volume: core.Volume;
  /** Undefined for an inline volume. */
  readonly persistentVolume?: core.PersistentVolume | undefined;
  readonly readOnly: boolean;
}

/** A volume, inline or persistent, in the same terms. */
export interface Wanted {
  readonly driver: string;
  readonly handle: string;
  /** Of the PersistentVolume, or of the Pod's volume. */
  readonly name: string;
  readonly isInline: boolean;
  readonly isBlock: boolean;
  readonly readOnly: boolean;
  readonly fsType: string;
  readonly accessMode: string;
  readonly accessModes: readonly string[];
  readonly mountFlags: readonly string[];
  /** SELinux: also among the flags. */
  readonly mountLabel?: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret?: core.SecretReference | undefined;
  readonly publishSecret?: core.SecretReference | undefined;
  readonly expandSecret?: core.SecretReference | undefined;
  /** As the Node's status names it. */
  readonly attachedName: string;
  readonly attachment: string;
}

export function wantedVolume(request: CsiRequest, nodeName: string): Wanted {
  const { pod, volume, persistentVolume, readOnly } = request;
  const { spec } = persistentVolume ?? {};
  const inline = volume.csi;
  const source = spec?.csi;
  const { name: podName = "", namespace = "", uid = "" } = pod.metadata;
  const driver = source?.driver ?? inline?.driver ?? "";
  const handle = source?.volumeHandle ?? inlineHandle(uid, volume.name);
  const accessModes = spec?.accessModes ?? [];
  const secret = inline?.nodePublishSecretRef?.name;
  return {
    driver,
    handle,
    name: persistentVolume?.metadata.name ?? volume.name ?? podName,
    isInline: source === undefined,
    isBlock: spec?.volumeMode === "Block",
    readOnly: readOnly || source?.readOnly === true,
    fsType: source?.fsType ?? inline?.fsType ?? "",
    accessMode: accessModes[0] ?? "ReadWriteOnce",
    accessModes,
    mountFlags: spec?.mountOptions ?? [],
    attributes: source?.volumeAttributes ?? inline?.volumeAttributes ?? {},
    stageSecret: source?.nodeStageSecretRef,
    publishSecret: source?.nodePublishSecretRef ?? (secret === undefined ? undefined : { name: secret, namespace }),
    expandSecret: source?.nodeExpandSecretRef,
    attachedName: csiVolumeName({ driver, volumeHandle: handle }),
    attachment: attachmentName(driver, handle, nodeName),
  };
}

/** With the SELinux label as a mount option, if there is one. */
export function withLabel(wanted: Wanted, label: string | undefined): Wanted {
  if (label === undefined || wanted.isBlock) return wanted;
  return { ...wanted, mountLabel: label, mountFlags: [...wanted.mountFlags, labelOption(label)] };
}

/** `mountGroup`: the driver itself gives the volume to the Pod's group. */
export function capabilityOf(
  { isBlock, fsType, accessMode, mountFlags }: Wanted,
  hasSingleWriter: boolean,
  mountGroup?: string,
): CsiSent<"VolumeCapability"> {
  const access = { accessMode: { mode: accessModeOf(accessMode, hasSingleWriter) } };
  if (isBlock) return { ...access, block: {} };
  return { ...access, mount: { fsType, mountFlags, volumeMountGroup: mountGroup } };
}

function accessModeOf(mode: string, hasSingleWriter: boolean): number {
  switch (mode) {
    case "ReadOnlyMany":
      return AccessMode.MULTI_NODE_READER_ONLY;
    case "ReadWriteMany":
      return AccessMode.MULTI_NODE_MULTI_WRITER;
    case "ReadWriteOncePod":
      return hasSingleWriter ? AccessMode.SINGLE_NODE_SINGLE_WRITER : AccessMode.SINGLE_NODE_WRITER;
    default:
      return hasSingleWriter ? AccessMode.SINGLE_NODE_MULTI_WRITER : AccessMode.SINGLE_NODE_WRITER;
  }
}

/** What a driver learns of the Pod, where its CSIDriver asks for it. */
export function podAttributes({ metadata, spec }: core.Pod, isInline: boolean): Record<string, string> {
  return {
    "csi.storage.k8s.io/pod.name": metadata.name ?? "",
    "csi.storage.k8s.io/pod.namespace": metadata.namespace ?? "",
    "csi.storage.k8s.io/pod.uid": metadata.uid ?? "",
    "csi.storage.k8s.io/serviceAccount.name": spec?.serviceAccountName ?? "",
    "csi.storage.k8s.io/ephemeral": String(isInline),
  };
}

/** Whether the kubelet gives the volume's files to the Pod's group. */
export function supportsGroup(
  { fsType, accessModes, isInline, isBlock, readOnly }: Wanted,
  policy: storage.CSIDriverSpec["fsGroupPolicy"] = "ReadWriteOnceWithFSType",
): boolean {
  if (isBlock || readOnly || policy === "None") return false;
  if (policy === "File") return true;
  return fsType !== "" && (isInline || accessModes.includes("ReadWriteOnce"));
}
