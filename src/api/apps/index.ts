/** The public surface of apps. */
import type { Kind } from "../machinery/kind.ts";
import { ControllerRevision } from "./controller-revision.ts";
import { DaemonSet } from "./daemon-set.ts";
import { Deployment } from "./deployment.ts";
import { ReplicaSet } from "./replica-set.ts";
import { StatefulSet } from "./stateful-set.ts";

export { templateGenerationAnnotation } from "./daemon-set.ts";
export { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet };

export const appsKinds: readonly Kind[] = [ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet];
