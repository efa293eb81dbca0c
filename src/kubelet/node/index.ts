/** The whole public surface of node. */
export { admitPod, admitResize } from "./admission.ts";
export { type NodeHealth, nodeConditions, type Pressure } from "./conditions.ts";
export { pressureProblem } from "./eviction.ts";
export { runEvictor } from "./evictor.ts";
export { hostCgroups, readHierarchies } from "./host-cgroups.ts";
export { hostFiles } from "./host-files.ts";
export { ImageGc } from "./image-gc.ts";
export { imagePuller } from "./image-puller.ts";
export { runLocalStorage } from "./local-storage.ts";
export { runLogRotation } from "./log-rotation.ts";
export { type Machine, type MachineUsage, readMachine, readUsage } from "./machine.ts";
export {
  type Amounts,
  allocatableOf,
  capacityOf,
  type NodeReport,
  nodeLabels,
  nodeStatus,
  type Reserved,
} from "./node-object.ts";
export { Registration } from "./registration.ts";
export {
  SHUTDOWN_REJECTION,
  type ShutdownPeriod,
  shutDownPods,
  shutdownPeriods,
} from "./shutdown.ts";
