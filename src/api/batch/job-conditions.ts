import type { JobCondition } from "../types/batch-v1.ts";

export function hasCondition(conditions: readonly JobCondition[] | undefined, type: string): boolean {
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}
