/**
 * The in-tree volume plugins that CSI drivers have replaced, and what their volumes are called by those drivers.
 *
 * 1. Migration is complete for all of them: no component handles their volumes itself.
 * 2. A handle is a function of the PersistentVolume alone, so that every component finds the same one.
 */
import type { PersistentVolume, PersistentVolumeSpec } from "../types/core-v1.ts";

export interface CsiIdentity {
  readonly driver: string;
  readonly volumeHandle: string;
}

interface Migration {
  readonly plugin: string;
  readonly driver: string;
  /** Undefined: the volume is not one of this plugin. */
  readonly handleOf: (spec: PersistentVolumeSpec, metadata: PersistentVolume["metadata"]) => string | undefined;
}

const ZONE_LABELS = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const UNSPECIFIED = "UNSPECIFIED";
/** Between the zones of a regional disk. */
const ZONE_SEPARATOR = "__";

const MIGRATIONS: readonly Migration[] = [
  {
    plugin: "kubernetes.io/aws-ebs",
    driver: "ebs.csi.aws.com",
    // A former form of the id names the zone: aws://zone/vol-1.
    handleOf: ({ awsElasticBlockStore: source }) => source?.volumeID.replace(/^aws:\/\/.*\//, ""),
  },
  {
    plugin: "kubernetes.io/azure-disk",
    driver: "disk.csi.azure.com",
    handleOf: ({ azureDisk }) => azureDisk?.diskURI,
  },
  { plugin: "kubernetes.io/azure-file", driver: "file.csi.azure.com", handleOf: azureFileHandle },
  {
    plugin: "kubernetes.io/cinder",
    driver: "cinder.csi.openstack.org",
    handleOf: ({ cinder }) => cinder?.volumeID,
  },
  { plugin: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io", handleOf: gceHandle },
  {
    plugin: "kubernetes.io/portworx-volume",
    driver: "pxd.portworx.com",
    handleOf: ({ portworxVolume }) => portworxVolume?.volumeID,
  },
  {
    plugin: "kubernetes.io/vsphere-volume",
    driver: "csi.vsphere.vmware.com",
    handleOf: ({ vsphereVolume }) => vsphereVolume?.volumePath,
  },
];

const DRIVERS: ReadonlyMap<string, string> = new Map(MIGRATIONS.map(({ plugin, driver }) => [plugin, driver]));

/** The driver that replaces an in-tree plugin; undefined if none does. */
export function migratedDriver(plugin: string): string | undefined {
  return DRIVERS.get(plugin);
}

/** The in-tree plugin of a volume, if a driver has replaced it. */
export function migratedPlugin({ metadata, spec = {} }: PersistentVolume): string | undefined {
  return MIGRATIONS.find(({ handleOf }) => handleOf(spec, metadata) !== undefined)?.plugin;
}

/** What CSI drivers call a volume: its own identity, or that of the in-tree volume; undefined for all other volumes. */
export function csiIdentity({ metadata, spec = {} }: PersistentVolume): CsiIdentity | undefined {
  if (spec.csi !== undefined) return { driver: spec.csi.driver, volumeHandle: spec.csi.volumeHandle };
  for (const { driver, handleOf } of MIGRATIONS) {
    const volumeHandle = handleOf(spec, metadata);
    if (volumeHandle !== undefined) return { driver, volumeHandle };
  }
  return undefined;
}

/** Resource group, account, share, volume and the namespace of the secret. */
function azureFileHandle(
  { azureFile, claimRef }: PersistentVolumeSpec,
  { name = "", annotations }: PersistentVolume["metadata"],
): string | undefined {
  if (azureFile === undefined) return undefined;
  const { secretName, shareName, secretNamespace } = azureFile;
  const account = /^azure-storage-account-(.+)-secret$/.exec(secretName)?.[1] ?? secretName;
  const group = annotations?.["kubernetes.io/azure-file-resource-group"] ?? "";
  return `${group}#${account}#${shareName}#${name}#${secretNamespace ?? claimRef?.namespace ?? "default"}`;
}

function gceHandle(
  { gcePersistentDisk }: PersistentVolumeSpec,
  { labels = {} }: PersistentVolume["metadata"],
): string | undefined {
  if (gcePersistentDisk === undefined) return undefined;
  const zones = (ZONE_LABELS.map((label) => labels[label]).find((zone) => zone !== undefined) ?? UNSPECIFIED).split(
    ZONE_SEPARATOR,
  );
  const [zone = UNSPECIFIED] = zones;
  const place = zones.length > 1 ? `regions/${zone.replace(/-[^-]*$/, "")}` : `zones/${zone}`;
  return `projects/${UNSPECIFIED}/${place}/disks/${gcePersistentDisk.pdName}`;
}
