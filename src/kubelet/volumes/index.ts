/** The whole public surface of volumes. */
export { type BoundVolume, boundVolume } from "./claims.ts";
export { type CsiMountRequest, type CsiVolumes, type CsiVolumeUsage, noCsi } from "./csi.ts";
export { type HostVolumesOptions, hostVolumes } from "./host-volumes.ts";
export { type VolumeObserver, volumeOperationMetrics } from "./operation-metrics.ts";
export { giveToGroup } from "./ownership.ts";
export type { PodVolumes, SubPathRequest } from "./pod-volumes.ts";
export { PodTokens } from "./tokens.ts";
export { VolumeError } from "./volume-error.ts";
export { volumeStatsMetrics } from "./volume-metrics.ts";
export type { VolumeCondition, VolumeFigures, VolumeUsage } from "./volume-usage.ts";
export { VolumeUsages } from "./volume-usages.ts";
