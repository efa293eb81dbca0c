/** What a CronJob has to tell, above all of the Jobs that it makes and deletes. */
import { type batch, isStatusError } from "#api";
import type { RecordedEvent } from "#client";
import type { Outcome, Write } from "../runtime/index.ts";

export type Tells = (type: "Normal" | "Warning", reason: string, note: string) => RecordedEvent;

export function eventsOf(cronJob: batch.CronJob): Tells {
  return (type, reason, note) => ({ about: cronJob, type, reason, note });
}

export function eventAbout(cronJob: batch.CronJob, write: Write, outcome: Outcome): RecordedEvent | undefined {
  const tells = eventsOf(cronJob);
  const { name } = write.object.metadata;
  if (write.verb === "create") {
    if (outcome.ok) return tells("Normal", "SuccessfulCreate", `Created job ${name}`);
    // A namespace that goes away takes the CronJob with it; a Job that is there is found in the next run.
    if (isQuiet(outcome.error)) return undefined;
    return tells("Warning", "FailedCreate", `Error creating job: ${messageOf(outcome.error)}`);
  }
  if (write.verb !== "delete") return undefined;
  return outcome.ok
    ? tells("Normal", "SuccessfulDelete", `Deleted job ${name}`)
    : tells("Warning", "FailedDelete", `Deleted job: ${messageOf(outcome.error)}`);
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
