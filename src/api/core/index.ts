/** The whole public surface of the core group. */
import type { Kind } from "../machinery/kind.ts";
import { Binding } from "./binding.ts";
import { ComponentStatus } from "./component-status.ts";
import { ConfigMap } from "./config-map.ts";
import { Endpoints } from "./endpoints.ts";
import { Event } from "./event.ts";
import { LimitRange } from "./limit-range.ts";
import { Namespace } from "./namespace.ts";
import { Node } from "./node.ts";
import { PersistentVolume } from "./persistent-volume.ts";
import { PersistentVolumeClaim } from "./persistent-volume-claim.ts";
import { Pod } from "./pod/index.ts";
import { PodTemplate } from "./pod-template.ts";
import { ReplicationController } from "./replication-controller.ts";
import { ResourceQuota } from "./resource-quota.ts";
import { Secret } from "./secret.ts";
import { Service } from "./service/index.ts";
import { ServiceAccount } from "./service-account.ts";

export { accessModesText } from "./access-modes.ts";
export { eventField } from "./event.ts";
export { eventColumns } from "./event-columns.ts";
export { validateEvent, validateNewEvent, validateNewEventUpdate } from "./event-validation.ts";
export { validateTaints } from "./node-validation.ts";
export { defaultClaimSpec } from "./persistent-volume-claim.ts";
export { validateClaimSpec } from "./persistent-volume-claim-validation.ts";
export { validatePersistentVolume } from "./persistent-volume-validation.ts";
export { validateNodeSelector } from "./pod/index.ts";
export { repackSubsets } from "./repack-subsets.ts";
export {
  allocatesNodePorts,
  type IpFamily,
  initIPFamilies,
  isExternallyAccessible,
  isHeadless,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
  releaseOnTypeChange,
} from "./service/index.ts";
export { checkReachableIp, checkStrictCidr, checkStrictIp } from "./strict-ip.ts";
export { csiDriverNameFaults } from "./volume-sources.ts";

export const coreKinds: readonly Kind[] = [
  Binding,
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolumeClaim,
  PersistentVolume,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
  Service,
];
