/** The public surface of scheduling. */
import type { Kind } from "../machinery/kind.ts";
import { highestUserPriority, PriorityClass, systemPriorities } from "./priority-class.ts";

export { highestUserPriority, PriorityClass, systemPriorities };

export const schedulingKinds: readonly Kind[] = [PriorityClass];
