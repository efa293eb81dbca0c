/** The whole public surface of volumes. */
export { type CsiMountRequest, type CsiVolumes, noCsi } from "./csi.ts";
export { type HostVolumesOptions, hostVolumes } from "./host-volumes.ts";
export { hostMounter, type Mounter } from "./mounter.ts";
export { podDirectory } from "./pod-paths.ts";
export { VolumeError } from "./volume-error.ts";
