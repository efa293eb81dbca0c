/** The public surface of the core group. */
import type { Kind } from "../machinery/kind.ts";
import { Binding } from "./binding.ts";
import { ComponentStatus } from "./component-status.ts";
import { ConfigMap } from "./config-map.ts";
import { Endpoints } from "./endpoints/endpoints.ts";
import { Event } from "./event.ts";
import { Namespace } from "./namespace.ts";
import { Node } from "./node/node.ts";
import { Pod } from "./pod/index.ts";
import { LimitRange } from "./resources/limit-range.ts";
import { ResourceQuota } from "./resources/resource-quota.ts";
import { Secret } from "./secret.ts";
import { Service } from "./service/index.ts";
import { ServiceAccount } from "./service-account.ts";
import { PersistentVolume } from "./volumes/persistent-volume.ts";
import { PersistentVolumeClaim } from "./volumes/persistent-volume-claim.ts";
import { PodTemplate } from "./workload/pod-template.ts";
import { ReplicationController } from "./workload/replication-controller.ts";

export { eventField } from "./event.ts";
export { eventColumns } from "./event-columns.ts";
export { validateEvent, validateNewEvent, validateNewEventUpdate } from "./event-validation.ts";
export { validateNodeSelector } from "./node/node-selector.ts";
export { validateTaints } from "./node/validation.ts";
export { isExtendedResource } from "./resources/resource-list.ts";
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
export { accessModesText } from "./volumes/access-modes.ts";
export { csiDriverNameFaults } from "./volumes/current-sources.ts";
export { defaultClaimSpec } from "./volumes/persistent-volume-claim.ts";
export { validateClaimSpec } from "./volumes/persistent-volume-claim-validation.ts";
export { validatePersistentVolume, validatePersistentVolumeSpec } from "./volumes/persistent-volume-validation.ts";

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
