/** Event of events.k8s.io/v1: the same objects as core/v1 events, which is the stored form. */
import { eventColumns, eventField, validateEvent, validateNewEvent, validateNewEventUpdate } from "../core/index.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { Event as CoreEvent } from "../types/core-v1.ts";
import type { Event as EventObject } from "../types/events-v1.ts";

const regarding = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

export const Event = defineKind<EventObject>("events.k8s.io/v1", "Event", {
  storedAs: {
    group: "",
    version: "v1",
    kind: "Event",
    toStored: toCoreEvent,
    fromStored: (object: KubeObject) => fromCoreEvent(object as CoreEvent),
  },
  update: {
    allowCreate: true,
    validate: (next, old, path) => validateNewEventUpdate(toCoreEvent(next), toCoreEvent(old), path),
  },
  create: { validate: (event, path) => validateNewEvent(toCoreEvent(event), path) },
  validate: (event, path) => validateEvent(toCoreEvent(event), "reportingController", path),
  columns: eventColumns(toCoreEvent),
  selectableFields: {
    names: ["reason", "reportingController", ...regarding.map((name) => `regarding.${name}`), "type"],
    valueOf: (event, name) => eventField(toCoreEvent(event), coreName(name)),
  },
});

export function toCoreEvent(event: EventObject): CoreEvent {
  const { regarding, note, reportingController, deprecatedSource, ...rest } = event;
  const { deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...shared } = rest;
  return {
    ...shared,
    apiVersion: "v1",
    involvedObject: regarding ?? {},
    ...present("message", note),
    ...present("source", deprecatedSource),
    ...present("firstTimestamp", deprecatedFirstTimestamp),
    ...present("lastTimestamp", deprecatedLastTimestamp),
    ...present("count", deprecatedCount),
    ...present("reportingComponent", reportingController),
  };
}

export function fromCoreEvent(event: CoreEvent): EventObject {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent, ...shared } =
    event;
  return {
    ...(shared as Omit<EventObject, "eventTime">),
    apiVersion: "events.k8s.io/v1",
    eventTime: event.eventTime as EventObject["eventTime"],
    regarding: involvedObject,
    ...present("note", message),
    ...present("deprecatedSource", source),
    ...present("deprecatedFirstTimestamp", firstTimestamp),
    ...present("deprecatedLastTimestamp", lastTimestamp),
    ...present("deprecatedCount", count),
    ...present("reportingController", reportingComponent),
  };
}

function coreName(name: string): string {
  return name === "reportingController" ? "reportingComponent" : name.replace(/^regarding\./, "involvedObject.");
}

function present<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: Value });
}
