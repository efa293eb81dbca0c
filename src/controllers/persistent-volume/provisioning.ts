/**
 * Requests a volume: an annotation names the provisioner, which watches for such claims. No in-tree provisioner exists
 * here.
 */
import { kinds, migratedDriver, storageClassOf } from "#api";
import type { Plan } from "../runtime/index.ts";
import { BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER, type StorageClass, type VolumeClaim } from "./facts.ts";

/** Whether a CSI driver deletes the volumes of the plugin. */
export function isDrivenElsewhere(plugin: string): boolean {
  return migratedDriver(plugin) !== undefined || !plugin.startsWith("kubernetes.io/");
}

export function provision(claim: VolumeClaim, storageClass: StorageClass | undefined): Plan {
  if (storageClass === undefined)
    return refused(claim, `storageclass.storage.k8s.io "${storageClassOf(claim)}" not found`);
  const { provisioner } = storageClass;
  if (!isDrivenElsewhere(provisioner)) return refused(claim, `no volume plugin matched name: ${provisioner}`);
  const name = migratedDriver(provisioner) ?? provisioner;
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
