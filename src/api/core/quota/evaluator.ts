/** How quotas measure the objects of one resource. */
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { ScopedResourceSelectorRequirement } from "../../types/core-v1.ts";
import type { Totals } from "../pod/resources/container-totals.ts";

export interface QuotaWrite {
  readonly operation: "CREATE" | "UPDATE";
  readonly subresource: string;
  readonly object: KubeObject;
  /** Absent on create. */
  readonly old?: KubeObject | undefined;
}

export interface QuotaEvaluator {
  readonly group: string;
  readonly plural: string;
  /** Whether a write may change the usage. */
  handles(write: QuotaWrite): boolean;
  /** The resources of a quota that this evaluator measures. */
  matching(names: readonly string[]): readonly string[];
  /** Whether a quota with this scope counts the object. */
  matchesScope(scope: ScopedResourceSelectorRequirement, object: KubeObject): boolean;
  /** `now` in milliseconds since 1970: objects that should have terminated by now no longer count. */
  usage(object: KubeObject, now: number): Totals;
  /** The fields that an object must set where a quota measures these resources; undefined if it sets all of them. */
  constraints?(required: readonly string[], object: KubeObject): string | undefined;
}

export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}

/** Whether a scope's values select a value, which may be missing. */
export function selectsValue(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  value: string | undefined,
): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
