/** The condition PodGroupScheduled, after each attempt for a group. */
import { type Group, publishCondition } from "../framework/index.ts";
import type { GroupOutcome } from "./group-cycle.ts";
import type { Parts } from "./parts.ts";

const REASONS = { scheduled: "Scheduled", unschedulable: "Unschedulable", error: "SchedulerError" } as const;

export function publishOutcome(parts: Parts, group: Group, outcome: GroupOutcome): void {
  const isScheduled = outcome.kind === "scheduled";
  publishCondition(parts, group, {
    type: "PodGroupScheduled",
    status: isScheduled ? "True" : "False",
    reason: REASONS[outcome.kind],
    message: isScheduled ? "" : outcome.message,
  });
}
