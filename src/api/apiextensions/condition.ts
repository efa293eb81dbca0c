/** What a condition of a definition says, apart from when. */
import type { CustomResourceDefinition } from "../types/apiextensions-v1.ts";

export interface ConditionFacts {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function isConditionTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === "True");
}
