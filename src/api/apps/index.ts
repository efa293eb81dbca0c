/** The whole public surface of apps: its kinds, and what other workloads share with them. */
import type { Kind } from "../machinery/kind.ts";
import { ControllerRevision } from "./controller-revision.ts";
import { DaemonSet } from "./daemon-set.ts";
import { Deployment } from "./deployment.ts";
import { ReplicaSet } from "./replica-set.ts";
import { StatefulSet } from "./stateful-set.ts";

export { podNameWarnings } from "../core/workload/name-warnings.ts";
export { validateReplicaCounts } from "../core/workload/replica-counts.ts";
export { checkTemplateMatches, readSelector } from "../core/workload/selector.ts";
export {
  dropDisabledFields,
  isWarnedOf,
  templateWarnings,
  validateReplicatedTemplate,
} from "../core/workload/template.ts";
export { selectorColumn, templateColumns } from "../core/workload/template-columns.ts";
export { allNonNegative, atMost100Percent, nonNegative, nonNegativeIntOrPercent } from "../definition/counts.ts";
export { jsonOf, same, unchanged } from "../definition/json-of.ts";
export { templateGenerationAnnotation } from "./daemon-set.ts";
export { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet };

export const appsKinds: readonly Kind[] = [ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet];
