/**
 * Requests a volume: an annotation names the provisioner, which watches for such claims. No in-tree provisioner exists
 * here.
 */
import { kinds, storageClassOf } from "#api";
import type { Plan } from "../runtime/index.ts";
import { BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER, type StorageClass, type VolumeClaim } from "./facts.ts";

/** In-tree plugins and the CSI drivers that replace them. */
const DRIVERS: ReadonlyMap<string, string> = new Map([
  ["kubernetes.io/aws-ebs", "ebs.csi.aws.com"],
  ["kubernetes.io/azure-disk", "disk.csi.azure.com"],
  ["kubernetes.io/azure-file", "file.csi.azure.com"],
  ["kubernetes.io/cinder", "cinder.csi.openstack.org"],
  ["kubernetes.io/gce-pd", "pd.csi.storage.gke.io"],
  ["kubernetes.io/portworx-volume", "pxd.portworx.com"],
  ["kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"],
]);

/** Whether a CSI driver deletes the volumes of the plugin. */
export function isDrivenElsewhere(plugin: string): boolean {
  return DRIVERS.has(plugin) || !plugin.startsWith("kubernetes.io/");
}

export function provision(claim: VolumeClaim, storageClass: StorageClass | undefined): Plan {
  if (storageClass === undefined)
    return refused(claim, `storageclass.storage.k8s.io "${storageClassOf(claim)}" not found`);
  const { provisioner } = storageClass;
  if (!isDrivenElsewhere(provisioner)) return refused(claim, `no volume plugin matched name: ${provisioner}`);
  const name = DRIVERS.get(provisioner) ?? provisioner;
  const waiting = {
    about: claim,
    type: "Normal",
    reason: "ExternalProvisioning",
    note:
      `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system administrator. ` +
      "If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
  } as const;
  const { annotations = {} } = claim.metadata;
  if (annotations[STORAGE_PROVISIONER] === name && annotations[BETA_STORAGE_PROVISIONER] === name)
    return { events: [waiting] };
  const asked = { ...annotations, [BETA_STORAGE_PROVISIONER]: name, [STORAGE_PROVISIONER]: name };
  const object = { ...claim, metadata: { ...claim.metadata, annotations: asked } };
  return {
    steps: [[{ verb: "update", resource: kinds.PersistentVolumeClaim, object }]],
    eventFor: (_, { ok }) => (ok ? waiting : undefined),
  };
}

function refused(about: VolumeClaim, note: string): Plan {
  return { events: [{ about, type: "Warning", reason: "ProvisioningFailed", note }] };
}
