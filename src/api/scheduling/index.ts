/** The public surface of scheduling. */
import type { Kind } from "../machinery/kind.ts";
import { PodGroup } from "./pod-group.ts";
import { highestUserPriority, PriorityClass, systemPriorities } from "./priority-class.ts";
import { Workload } from "./workload.ts";

export { highestUserPriority, PodGroup, PriorityClass, systemPriorities, Workload };

export const schedulingKinds: readonly Kind[] = [PriorityClass, PodGroup, Workload];
