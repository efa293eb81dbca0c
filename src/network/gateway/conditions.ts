/** Conditions in the words of the Gateway API. Pure. */
import type { Condition } from "./kinds.ts";
import type { Resolved } from "./references.ts";

export function yes(reason: string, message: string): Condition {
  return { type: "Accepted", status: "True", reason, message };
}

export function no(reason: string, message: string): Condition {
  return { type: "Accepted", status: "False", reason, message };
}

export function resolvedCondition(all: readonly Resolved[]): Condition {
  const problem = all.find((each) => each.key === undefined);
  const condition =
    problem?.key === undefined && problem !== undefined
      ? no(problem.reason, problem.message)
      : yes("ResolvedRefs", "all references are resolved");
  return { ...condition, type: "ResolvedRefs" };
}
