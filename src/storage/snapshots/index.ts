/** Snapshots: definitions, the snapshot controller, the snapshotter of a driver, what volumes are restored from. */
export { definitions, installDefinitions } from "./definitions/index.ts";
export { groupKinds, type VolumeGroupSnapshotContent } from "./objects/group-kinds.ts";
export {
  snapshotKinds,
  type VolumeSnapshot,
  type VolumeSnapshotClass,
  type VolumeSnapshotContent,
} from "./objects/kinds.ts";
export { writtenNode } from "./objects/names.ts";
export { type Restorable, type RestoreSource, restoreSource } from "./restore.ts";
export { defaultSnapshotClass, installSnapshots } from "./run/install.ts";
export { CONTROLLER_ACCOUNT, SNAPSHOTTER_ACCOUNT, snapshotRoles } from "./run/roles.ts";
export {
  type RunOptions,
  runSnapshotController,
  runSnapshotter,
  type SnapshotControllerRun,
  snapshotterLease,
} from "./run/run.ts";
export type { SnapshotterOptions } from "./sidecar/options.ts";
