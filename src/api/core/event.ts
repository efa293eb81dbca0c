import { defineKind } from "../definition/define-kind.ts";
import type { Event as EventObject } from "../types/core-v1.ts";
import { eventColumns } from "./event-columns.ts";
import { validateEvent } from "./event-validation.ts";

const involvedObject = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** events.k8s.io/v1 serves the same objects, which are stored in this form. */
export const Event = defineKind<EventObject>("v1", "Event", {
  update: { allowCreate: true },
  validate: (event, path) => validateEvent(event, "reportingComponent", path),
  columns: eventColumns((event: EventObject) => event),
  selectableFields: {
    names: [
      ...involvedObject.map((name) => `involvedObject.${name}`),
      "reason",
      "reportingComponent",
      "source",
      "type",
    ],
    valueOf: eventField,
  },
});

export function eventField(event: EventObject, name: string): string {
  switch (name) {
    case "reason":
      return event.reason ?? "";
    case "reportingComponent":
      return event.reportingComponent ?? "";
    case "source":
      return event.source?.component || (event.reportingComponent ?? "");
    case "type":
      return event.type ?? "";
    default: {
      const field = involvedObject.find((one) => name === `involvedObject.${one}`);
      return field === undefined ? "" : (event.involvedObject[field] ?? "");
    }
  }
}
