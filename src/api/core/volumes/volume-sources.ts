/** Volume sources in the order in which Kubernetes validates them, and the rules of each. */
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type { PersistentVolumeSpec, SecretReference } from "../../types/core-v1.ts";

export const volumeSources = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const;

type Source = (typeof volumeSources)[number];

const needed: Readonly<Partial<Record<Source, readonly string[]>>> = {
  gcePersistentDisk: ["pdName"],
  awsElasticBlockStore: ["volumeID"],
  glusterfs: ["endpoints", "path"],
  rbd: ["monitors", "image"],
  quobyte: ["registry", "volume"],
  cephfs: ["monitors"],
  iscsi: ["targetPortal", "iqn"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  azureFile: ["secretName", "shareName"],
  vsphereVolume: ["volumePath"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  scaleIO: ["gateway", "system", "volumeName"],
};
const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

export function sourceFaults(spec: PersistentVolumeSpec, source: Source, path: FieldPath): readonly FieldError[] {
  switch (source) {
    case "hostPath":
      return hostPathFaults(spec.hostPath ?? { path: "" }, path);
    case "local":
      return pathFaults(spec.local?.path ?? "", path.child("path"));
    case "nfs":
      return nfsFaults(spec.nfs ?? { server: "", path: "" }, path);
    case "csi":
      return csiFaults(spec.csi ?? { driver: "", volumeHandle: "" }, path);
    default: {
      const value = spec[source] as Readonly<Record<string, unknown>> | undefined;
      const isEmpty = (field: string) =>
        (value?.[field] ?? "") === "" || (value?.[field] as []).length === 0;
      return (needed[source] ?? []).filter(isEmpty).map((field) => required(path.child(field)));
    }
  }
}

function hostPathFaults(
  { path: hostPath, type = "" }: { readonly path: string; readonly type?: string },
  path: FieldPath,
): readonly FieldError[] {
  const errors = [...pathFaults(hostPath, path.child("path"))];
  if (hostPath !== "" && !hostPathTypes.includes(type))
    errors.push(notSupported(path.child("type"), type, hostPathTypes));
  return errors;
}

function nfsFaults(
  { server, path: exported }: { readonly server: string; readonly path: string },
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (server === "") errors.push(required(path.child("server")));
  if (exported === "") errors.push(required(path.child("path")));
  if (!exported.startsWith("/")) errors.push(invalid(path.child("path"), exported, "must be an absolute path"));
  return errors;
}

function csiFaults(csi: NonNullable<PersistentVolumeSpec["csi"]>, path: FieldPath): readonly FieldError[] {
  const errors = [...csiDriverNameFaults(csi.driver, path.child("driver"))];
  if (csi.volumeHandle === "") errors.push(required(path.child("volumeHandle")));
  for (const field of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
  ] as const) {
    errors.push(...secretFaults(csi[field], path.child(field)));
  }
  return errors;
}

function secretFaults(secret: SecretReference | undefined, path: FieldPath): readonly FieldError[] {
  if (secret === undefined) return [];
  return (["name", "namespace"] as const).flatMap((field) => (secret[field] ? [] : [required(path.child(field))]));
}

/** The name of a driver is a DNS subdomain, case-insensitive. */
export function csiDriverNameFaults(name: string, where: FieldPath): readonly FieldError[] {
  if (name === "") return [required(where)];
  const errors: FieldError[] = [];
  if (name.length > 63)
    errors.push({ type: "FieldValueTooLong", field: where.toString(), detail: "may not be more than 63 bytes" });
  for (const why of checkDns1123Subdomain(name.toLowerCase())) errors.push(invalid(where, name, why));
  return errors;
}

function pathFaults(text: string, where: FieldPath): readonly FieldError[] {
  if (text === "") return [required(where)];
  return text.split("/").includes("..") ? [invalid(where, text, "must not contain '..'")] : [];
}
