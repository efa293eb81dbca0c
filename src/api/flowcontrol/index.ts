/** The public surface of flowcontrol.apiserver.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { FlowSchema } from "./flow-schema.ts";
import { PriorityLevelConfiguration } from "./priority-level-configuration.ts";

export const flowcontrolKinds: readonly Kind[] = [FlowSchema, PriorityLevelConfiguration];
