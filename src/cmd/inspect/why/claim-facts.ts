/** What is known of a PersistentVolumeClaim when it is explained. */
import type { core, storage } from "#api";
import type { PodFacts } from "./facts.ts";

export interface ClaimFacts {
  readonly claim: core.PersistentVolumeClaim;
  /** The newest last. */
  readonly events: readonly core.Event[];
  /** Its class, if that exists. */
  readonly storageClass?: storage.StorageClass | undefined;
  /** The one that it is bound to, or asks for. */
  readonly volume?: core.PersistentVolume | undefined;
  /** The provisioner's CSIDriver object, if there is one. */
  readonly driver?: storage.CSIDriver | undefined;
  readonly csiNodes?: readonly storage.CSINode[] | undefined;
  readonly nodes?: readonly core.Node[] | undefined;
  /** Of its class. */
  readonly capacities?: readonly storage.CSIStorageCapacity[] | undefined;
  readonly attachments?: readonly storage.VolumeAttachment[] | undefined;
  /** Those that use it. */
  readonly pods?: readonly PodFacts[] | undefined;
}
