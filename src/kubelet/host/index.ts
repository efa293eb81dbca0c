/** The whole public surface of host: the machine that a kubelet runs on. */
export type { CgroupLimits } from "./cgroup-files.ts";
export { type DiskUse, diskUse } from "./disk-use.ts";
export { type Hierarchies, hostCgroups, readHierarchies } from "./host-cgroups.ts";
export { hostFiles } from "./host-files.ts";
export { runLogRotation } from "./log-rotation.ts";
export {
  type DiskFree,
  type Machine,
  type MachineUsage,
  meminfo,
  readMachine,
  readSysFile,
  readUsage,
} from "./machine.ts";
export { hostMounter, type Mounter } from "./mounter.ts";
export type { EnforcedLimits, PodCgroups, PodFiles } from "./pod-host.ts";
export { podDirectory, subPathsDirectory, volumeDirectory, volumesDirectory } from "./pod-paths.ts";
export { settleProcess } from "./process.ts";
export { requireSystemd, sliceMaker } from "./systemd-slices.ts";
