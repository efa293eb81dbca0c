/** Events about a CronJob, above all about the Jobs that it creates and deletes. */
import { type batch, isStatusError } from "#api";
import type { RecordedEvent } from "#client";
import type { Outcome, Write } from "../runtime/index.ts";

export type RecordsEvent = (type: "Normal" | "Warning", reason: string, note: string) => RecordedEvent;

export function eventsOf(cronJob: batch.CronJob): RecordsEvent {
  return (type, reason, note) => ({ about: cronJob, type, reason, note });
}

export function eventAbout(cronJob: batch.CronJob, write: Write, outcome: Outcome): RecordedEvent | undefined {
  const event = eventsOf(cronJob);
  const { name } = write.object.metadata;
  if (write.verb === "create") {
    if (outcome.ok) return event("Normal", "SuccessfulCreate", `Created job ${name}`);
    // A terminating namespace takes the CronJob with it; an existing Job is found in the next run.
    if (isQuiet(outcome.error)) return undefined;
    return event("Warning", "FailedCreate", `Error creating job: ${messageOf(outcome.error)}`);
  }
  if (write.verb !== "delete") return undefined;
  return outcome.ok
    ? event("Normal", "SuccessfulDelete", `Deleted job ${name}`)
    : event("Warning", "FailedDelete", `Deleted job: ${messageOf(outcome.error)}`);
}

function isQuiet(error: unknown): boolean {
  if (!isStatusError(error)) return false;
  return (
    error.reason === "AlreadyExists" ||
    error.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
