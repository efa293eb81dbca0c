/** A plan that reports each of its writes, for metrics. */
import type { Outcome, Plan, Write } from "./plan.ts";

export function observed(plan: Plan, saw: (write: Write, outcome: Outcome) => void): Plan {
  const { eventFor } = plan;
  return {
    ...plan,
    eventFor: (write, outcome) => {
      saw(write, outcome);
      return eventFor?.call(plan, write, outcome);
    },
  };
}
