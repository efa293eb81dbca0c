/** The whole public surface of apps: its kinds, and what other workloads share with them. */
import type { Kind } from "../machinery/kind.ts";
import { ControllerRevision } from "./controller-revision.ts";
import { DaemonSet } from "./daemon-set.ts";
import { Deployment } from "./deployment.ts";
import { ReplicaSet } from "./replica-set.ts";
import { StatefulSet } from "./stateful-set.ts";

export { allNonNegative, atMost100Percent, nonNegative, nonNegativeIntOrPercent } from "./counts.ts";
export { templateGenerationAnnotation } from "./daemon-set.ts";
export { jsonOf, same, unchanged } from "./json-of.ts";
export { podNameWarnings } from "./name-warnings.ts";
export { validateReplicaCounts } from "./replica-counts.ts";
export { checkTemplateMatches, readSelector } from "./selector.ts";
export { dropDisabledFields, isWarnedOf, templateWarnings, validateReplicatedTemplate } from "./template.ts";
export { selectorColumn, templateColumns } from "./template-columns.ts";
export { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet };

export const appsKinds: readonly Kind[] = [ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet];
