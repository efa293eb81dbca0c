/** Volume sources from before CSI, of pods and of volumes. Most have no driver any more, but their rules still hold. */

import { table } from "#base";
import { fits, oneOf, requireFits, requireText, within } from "../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { checkDns1123Label } from "../../machinery/names/names.ts";
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFileVolumeSource,
  CephFSVolumeSource,
  CinderVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GlusterfsVolumeSource,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  LocalObjectReference,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  StorageOSVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "../../types/core-v1.ts";

type Errors = readonly FieldError[];

export function validateGcePersistentDisk({ pdName, partition }: GCEPersistentDiskVolumeSource, at: FieldPath): Errors {
  return [...requireText(pdName, at.child("pdName")), ...partitionFaults(partition, at)];
}

export function validateAwsElasticBlockStore(
  { volumeID, partition }: AWSElasticBlockStoreVolumeSource,
  at: FieldPath,
): Errors {
  return [...requireText(volumeID, at.child("volumeID")), ...partitionFaults(partition, at)];
}

/** 0 is the whole disk. */
function partitionFaults(partition = 0, at: FieldPath): Errors {
  return partition === 0 ? [] : within(partition, 1, 255, at.child("partition"));
}

const iscsiNames: Readonly<Record<string, RegExp>> = table({
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
});

/** `unknown`: what is said of names that start like none of the formats. */
export function validateIscsi(
  iscsi: ISCSIVolumeSource | ISCSIPersistentVolumeSource,
  at: FieldPath,
  unknown: string,
): Errors {
  const errors = [...requireText(iscsi.targetPortal, at.child("targetPortal"))];
  if (!iscsi.iqn) errors.push(required(at.child("iqn")));
  else errors.push(...iscsiNameFaults(iscsi.iqn, at.child("iqn"), unknown));
  errors.push(...within(iscsi.lun ?? 0, 0, 255, at.child("lun")));
  const authenticates = iscsi.chapAuthDiscovery === true || iscsi.chapAuthSession === true;
  if (authenticates && iscsi.secretRef === undefined) errors.push(required(at.child("secretRef")));
  if (iscsi.initiatorName !== undefined)
    errors.push(...iscsiNameFaults(iscsi.initiatorName, at.child("initiatorname"), unknown));
  return errors;
}

function iscsiNameFaults(name: string, at: FieldPath, unknown: string): Errors {
  const pattern = iscsiNames[name.slice(0, 3)];
  if (pattern === undefined) return [invalid(at, name, unknown)];
  return pattern.test(name) ? [] : [invalid(at, name, "must be valid format")];
}

/** Initiators have a name of their own for each volume and portal, of limited length. */
export function isLongInitiator(
  volumeName: string,
  { initiatorName, targetPortal }: ISCSIVolumeSource | ISCSIPersistentVolumeSource,
): boolean {
  return initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > 64;
}

export const longInitiator =
  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

export function validateGlusterfs({ endpoints, path }: GlusterfsVolumeSource, at: FieldPath): Errors {
  return [...requireText(endpoints, at.child("endpoints")), ...requireText(path, at.child("path"))];
}

export function validateFlocker({ datasetName = "", datasetUUID = "" }: FlockerVolumeSource, at: FieldPath): Errors {
  const errors: FieldError[] = [];
  if (datasetName === "" && datasetUUID === "")
    errors.push(required(at, "one of datasetName and datasetUUID is required"));
  if (datasetName !== "" && datasetUUID !== "") {
    errors.push(invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (datasetName.includes("/")) errors.push(invalid(at.child("datasetName"), datasetName, "must not contain '/'"));
  return errors;
}

export function validateRbd({ monitors, image }: RBDVolumeSource, at: FieldPath): Errors {
  return [...requireItems(monitors, at.child("monitors")), ...requireText(image, at.child("image"))];
}

export function validateCinder({ volumeID, secretRef }: CinderVolumeSource, at: FieldPath): Errors {
  return [...requireText(volumeID, at.child("volumeID")), ...requireSecretName(secretRef, at)];
}

export function validateCephFs({ monitors }: CephFSVolumeSource, at: FieldPath): Errors {
  return requireItems(monitors, at.child("monitors"));
}

const quobytePairs = "must be a host:port pair or multiple pairs separated by commas";

export function validateQuobyte({ registry = "", tenant = "", volume }: QuobyteVolumeSource, at: FieldPath): Errors {
  const errors: FieldError[] = [];
  if (registry === "") errors.push(required(at.child("registry"), quobytePairs));
  else if (tenant.length >= 65) {
    errors.push(required(at.child("tenant"), "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (const pair of registry.split(",")) {
      if (!/^(\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair))
        errors.push(invalid(at.child("registry"), registry, quobytePairs));
    }
  }
  return [...errors, ...requireText(volume, at.child("volume"))];
}

export function validateFibreChannel({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: FieldPath): Errors {
  const errors: FieldError[] = [];
  const path = at.child("targetWWNs");
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(required(path, "must specify either targetWWNs or wwids, but not both"));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.push(invalid(path, targetWWNs, "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (targetWWNs.length > 0) {
    if (lun === undefined) errors.push(required(at.child("lun"), "lun is required if targetWWNs is specified"));
    else errors.push(...within(lun, 0, 255, at.child("lun")));
  }
  return errors;
}

export function validateFlexVolume({ driver, options = {} }: FlexVolumeSource, at: FieldPath): Errors {
  const reserved = Object.keys(options).filter((key) => {
    const domain = `.${(key.includes("/") ? key.slice(0, key.indexOf("/")) : key).toLowerCase()}`;
    return domain.endsWith(".kubernetes.io") || domain.endsWith(".k8s.io");
  });
  const why = "kubernetes.io and k8s.io namespaces are reserved";
  return [
    ...requireText(driver, at.child("driver")),
    ...reserved.map((key) => invalid(at.child("options").key(key), key, why)),
  ];
}

export function validateAzureFile({ secretName, shareName }: AzureFileVolumeSource, at: FieldPath): Errors {
  return [...requireText(secretName, at.child("secretName")), ...requireText(shareName, at.child("shareName"))];
}

export function validateVsphere({ volumePath }: VsphereVirtualDiskVolumeSource, at: FieldPath): Errors {
  return requireText(volumePath, at.child("volumePath"));
}

export function validatePhoton({ pdID }: PhotonPersistentDiskVolumeSource, at: FieldPath): Errors {
  return requireText(pdID, at.child("pdID"));
}

export function validatePortworx({ volumeID }: PortworxVolumeSource, at: FieldPath): Errors {
  return requireText(volumeID, at.child("volumeID"));
}

const managedDisk = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

export function validateAzureDisk(
  { diskName, diskURI = "", cachingMode, kind }: AzureDiskVolumeSource,
  at: FieldPath,
): Errors {
  const errors = [
    ...requireText(diskName, at.child("diskName")),
    ...requireText(diskURI, at.child("diskURI")),
    ...oneOf(cachingMode, ["None", "ReadOnly", "ReadWrite"], at.child("cachingMode")),
    ...oneOf(kind, ["Dedicated", "Managed", "Shared"], at.child("kind")),
  ];
  if (kind === undefined) return errors;
  const [start, form] = kind === "Managed" ? ["/subscriptions/", managedDisk] : ["https://", blobDisk];
  if (!diskURI.startsWith(start)) errors.push(notSupported(at.child("diskURI"), diskURI, [form]));
  return errors;
}

export function validateStorageOs(
  { volumeName, volumeNamespace, secretRef }: StorageOSVolumeSource,
  at: FieldPath,
): Errors {
  return [
    ...requireFits(checkDns1123Label, volumeName, at.child("volumeName")),
    ...(volumeNamespace ? fits(checkDns1123Label, volumeNamespace, at.child("volumeNamespace")) : []),
    ...requireSecretName(secretRef, at),
  ];
}

export function validateScaleIo({ gateway, system, volumeName }: ScaleIOVolumeSource, at: FieldPath): Errors {
  return [
    ...requireText(gateway, at.child("gateway")),
    ...requireText(system, at.child("system")),
    ...requireText(volumeName, at.child("volumeName")),
  ];
}

/** An absent list of a required field is written as null. */
function requireItems(items: readonly string[] | null | undefined, at: FieldPath): Errors {
  return (items ?? []).length === 0 ? [required(at)] : [];
}

function requireSecretName(reference: LocalObjectReference | undefined, at: FieldPath): Errors {
  return reference === undefined ? [] : requireText(reference.name, at.child("secretRef", "name"));
}
