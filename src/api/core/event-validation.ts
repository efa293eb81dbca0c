/**
 * Validation of events. events.k8s.io/v1 requires more than core/v1. An event with an `eventTime` is validated as a
 * newer one, whichever API it comes through.
 */

import { same } from "../definition/field-checks.ts";
import { internalField } from "../facts/index.ts";
import { type FieldError, type FieldPath, immutable, invalid, required } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain, checkQualifiedName } from "../machinery/names/names.ts";
import type { Event } from "../types/core-v1.ts";
import { textBytes } from "./sealed-data.ts";

/**
 * The rules of core/v1, for events in either form. `controllerField` is the name of `reportingController` in the
 * request's version.
 */
export function validateEvent(
  event: Event,
  controllerField: "reportingComponent" | "reportingController",
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? "";
  const involved = event.involvedObject.namespace ?? "";
  const isNew = hasTime(event.eventTime);
  const isHome =
    involved === "" ? ["default", isNew ? "kube-system" : ""].includes(namespace) : isNew || involved === namespace;
  if (!isHome)
    errors.push(invalid(path.child("involvedObject", "namespace"), involved, "does not match event.namespace"));
  if (isNew) {
    const controller = event.reportingComponent ?? "";
    if (controller === "") errors.push(required(path.child(controllerField)));
    for (const why of checkQualifiedName(controller))
      errors.push(invalid(path.child(controllerField), controller, why));
    errors.push(...shortText(event.reportingInstance, path.child("reportingInstance"), 128, true));
    errors.push(...shortText(event.action, path.child("action"), 128, true));
    errors.push(...shortText(event.reason, path.child("reason"), 128, true));
    errors.push(...shortText(event.message, path.child("message"), 1024, false));
  }
  for (const why of checkDns1123Subdomain(namespace)) errors.push(invalid(path.child("namespace"), namespace, why));
  return errors;
}

/** Further rules for a create through events.k8s.io/v1, with the field names of core events. */
export function validateNewEvent(event: Event, path: FieldPath): readonly FieldError[] {
  const errors = [...validateSeries(event, path)];
  if (!hasTime(event.eventTime)) errors.push(required(path.child("eventTime")));
  if (event.type !== "Normal" && event.type !== "Warning") {
    errors.push(invalid(path.child("type"), "", `has invalid value: ${event.type ?? ""}`));
  }
  const unset = (field: string, isSet: boolean) => (isSet ? [invalid(path.child(field), "", "needs to be unset")] : []);
  return [
    ...errors,
    ...unset("firstTimestamp", hasTime(event.firstTimestamp)),
    ...unset("lastTimestamp", hasTime(event.lastTimestamp)),
    ...unset("count", (event.count ?? 0) !== 0),
    ...unset("source", Boolean(event.source?.component) || Boolean(event.source?.host)),
  ];
}

const settled = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingController",
  "reportingInstance",
] as const;

/** Through events.k8s.io/v1 only the series may change. */
export function validateNewEventUpdate(next: Event, old: Event, path: FieldPath): readonly FieldError[] {
  const errors = [...validateSeries(next, path)];
  for (const field of settled) {
    const name = field === "reportingController" ? "reportingComponent" : field;
    if (same(next[name], old[name])) continue;
    const after = internalField("core.v1.Event", name, next[name]);
    if (!same(after, internalField("core.v1.Event", name, old[name]))) errors.push(immutable(path.child(field), after));
  }
  return errors;
}

function validateSeries({ series }: Event, path: FieldPath): readonly FieldError[] {
  if (series === undefined) return [];
  const errors: FieldError[] = [];
  if ((series.count ?? 0) < 2) errors.push(invalid(path.child("series.count"), "", "should be at least 2"));
  if (!hasTime(series.lastObservedTime)) errors.push(required(path.child("series.lastObservedTime")));
  return errors;
}

function shortText(text: string | undefined, path: FieldPath, max: number, needed: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (needed && !text) errors.push(required(path));
  if (textBytes(text ?? "") > max) errors.push(invalid(path, "", `can have at most ${max} characters`));
  return errors;
}

function hasTime(time: string | null | undefined): boolean {
  return time !== undefined && time !== null;
}
