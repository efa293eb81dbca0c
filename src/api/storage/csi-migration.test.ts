import { describe, expect, it } from "vitest";
import type { PersistentVolume, PersistentVolumeSpec } from "../types/core-v1.ts";
import { csiIdentity, migratedDriver, migratedPlugin } from "./csi-migration.ts";

const volume = (spec: PersistentVolumeSpec, metadata: PersistentVolume["metadata"] = {}): PersistentVolume => ({
  metadata: { name: "pv", ...metadata },
  spec,
});
const gce = { gcePersistentDisk: { pdName: "disk" } };
const zone = (value: string) => ({ labels: { "topology.kubernetes.io/zone": value } });

describe("what CSI drivers call a volume", () => {
  it.each([
    { name: "CSI", of: volume({ csi: { driver: "d", volumeHandle: "h" } }), want: ["d", "h"], plugin: undefined },
    {
      name: "EBS",
      of: volume({ awsElasticBlockStore: { volumeID: "vol-1" } }),
      want: ["ebs.csi.aws.com", "vol-1"],
      plugin: "kubernetes.io/aws-ebs",
    },
    {
      name: "EBS with a zone",
      of: volume({ awsElasticBlockStore: { volumeID: "aws://eu-1a/vol-1" } }),
      want: ["ebs.csi.aws.com", "vol-1"],
      plugin: "kubernetes.io/aws-ebs",
    },
    {
      name: "GCE without a zone",
      of: volume(gce),
      want: ["pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk"],
      plugin: "kubernetes.io/gce-pd",
    },
    {
      name: "GCE in a zone",
      of: volume(gce, zone("us-east1-a")),
      want: ["pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/us-east1-a/disks/disk"],
      plugin: "kubernetes.io/gce-pd",
    },
    {
      name: "GCE in two zones",
      of: volume(gce, zone("us-east1-a__us-east1-c")),
      want: ["pd.csi.storage.gke.io", "projects/UNSPECIFIED/regions/us-east1/disks/disk"],
      plugin: "kubernetes.io/gce-pd",
    },
    {
      name: "Azure disk",
      of: volume({ azureDisk: { diskName: "d", diskURI: "/subscriptions/d" } }),
      want: ["disk.csi.azure.com", "/subscriptions/d"],
      plugin: "kubernetes.io/azure-disk",
    },
    {
      name: "Azure file",
      of: volume({ azureFile: { secretName: "azure-storage-account-acc-secret", shareName: "s" } }),
      want: ["file.csi.azure.com", "#acc#s#pv#default"],
      plugin: "kubernetes.io/azure-file",
    },
    {
      name: "Cinder",
      of: volume({ cinder: { volumeID: "c" } }),
      want: ["cinder.csi.openstack.org", "c"],
      plugin: "kubernetes.io/cinder",
    },
    {
      name: "vSphere",
      of: volume({ vsphereVolume: { volumePath: "[ds] v.vmdk" } }),
      want: ["csi.vsphere.vmware.com", "[ds] v.vmdk"],
      plugin: "kubernetes.io/vsphere-volume",
    },
    {
      name: "Portworx",
      of: volume({ portworxVolume: { volumeID: "p" } }),
      want: ["pxd.portworx.com", "p"],
      plugin: "kubernetes.io/portworx-volume",
    },
    { name: "hostPath", of: volume({ hostPath: { path: "/" } }), want: undefined, plugin: undefined },
  ])("$name", ({ of, want, plugin }) => {
    expect(csiIdentity(of)).toEqual(want && { driver: want[0], volumeHandle: want[1] });
    expect(migratedPlugin(of)).toBe(plugin);
    if (plugin !== undefined) expect(migratedDriver(plugin)).toBe(want?.[0]);
  });

  it("has no driver for plugins that stay in the tree", () => {
    expect(migratedDriver("kubernetes.io/no-provisioner")).toBeUndefined();
  });
});
