/**
 * What users find in a new cluster: the driver's CSIDriver, and the class `standard`, the default. An object that
 * exists is left as it is, also without the annotation that makes it the default.
 */
import { kinds } from "#api";
import { type CallOptions, type Client, createUnlessThere } from "#client";
import { DRIVER_NAME } from "../driver/rules/names.ts";
import { sidecarAccounts, type WantedObject, wanted } from "./accounts.ts";

export function defaultObjects(): readonly WantedObject[] {
  return [
    wanted(kinds.CSIDriver, {
      metadata: { name: DRIVER_NAME },
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        fsGroupPolicy: "File",
        storageCapacity: true,
        volumeLifecycleModes: ["Persistent", "Ephemeral"],
        requiresRepublish: false,
        seLinuxMount: false,
      },
    }),
    wanted(kinds.StorageClass, {
      metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: DRIVER_NAME,
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
      reclaimPolicy: "Delete",
    }),
  ];
}

/** Creates what is missing: accounts with their roles first. */
export async function ensureDefaultObjects(client: Client, options: CallOptions = {}): Promise<void> {
  for (const { resource, object } of [...sidecarAccounts(), ...defaultObjects()]) {
    const { namespace } = object.metadata;
    const objects = client.of(resource);
    await createUnlessThere(namespace === undefined ? objects : objects.in(namespace), object, options);
  }
}
