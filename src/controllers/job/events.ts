/** Events about a Job: its Pods, suspension, and how it ended. */
import { type batch, isStatusError } from "#api";
import type { RecordedEvent } from "#client";
import type { Outcome, Write } from "../runtime/index.ts";
import { conditionOf, type Job } from "./job-view.ts";

export function eventAbout(job: Job, write: Write, outcome: Outcome): RecordedEvent | undefined {
  if (write.verb === "updateStatus") return outcome.ok ? statusEvent(job, (write.object as Job).status) : undefined;
  if (write.verb !== "create" && write.verb !== "delete") return undefined;
  const create = write.verb === "create";
  if (!outcome.ok) {
    // A terminating namespace takes the Job with it: no Event.
    if (isOfEndingNamespace(outcome.error)) return undefined;
    const message = outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
    return create
      ? { about: job, type: "Warning", reason: "FailedCreate", note: `Error creating: ${message}` }
      : { about: job, type: "Warning", reason: "FailedDelete", note: `Error deleting: ${message}` };
  }
  return create
    ? { about: job, type: "Normal", reason: "SuccessfulCreate", note: `Created pod: ${outcome.object?.metadata.name}` }
    : { about: job, type: "Normal", reason: "SuccessfulDelete", note: `Deleted pod: ${write.object.metadata.name}` };
}

function statusEvent(job: Job, status: batch.JobStatus | undefined): RecordedEvent | undefined {
  const changed = (status?.conditions ?? []).filter(
    ({ type, status: is }) => conditionOf(job.status, type)?.status !== is,
  );
  for (const { type, status: is, reason = "", message = "" } of changed) {
    if (type === "Complete") return { about: job, type: "Normal", reason: "Completed", note: "Job completed" };
    if (type === "Failed") return { about: job, type: "Warning", reason, note: message };
    if (type !== "Suspended") continue;
    return { about: job, type: "Normal", reason: is === "True" ? "Suspended" : "Resumed", note: message };
  }
  return undefined;
}

function isOfEndingNamespace(error: unknown): boolean {
  return (
    isStatusError(error) && error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true
  );
}
