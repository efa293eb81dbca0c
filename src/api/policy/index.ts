/** The public surface of policy. */
import type { Kind } from "../machinery/kind.ts";
import { PodDisruptionBudget } from "./pod-disruption-budget.ts";

export { validateConditions } from "./conditions.ts";
export { evictionNameFault, isOutsideBudgets, mayGoUnready, spendBudget } from "./eviction.ts";
export { PodDisruptionBudget };

export const policyKinds: readonly Kind[] = [PodDisruptionBudget];
