/** Events are listed by the time of their occurrence; their names come last. */
import { ageOf, nameColumn } from "../definition/columns.ts";
import type { Column } from "../machinery/kind.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { Event } from "../types/core-v1.ts";

const event = "io.k8s.api.core.v1.Event";

/** `read`: a row's object in the form of core events. */
export function eventColumns<T extends KubeObject>(read: (object: T) => Event): readonly Column<T>[] {
  return [
    {
      name: "Last Seen",
      type: "string",
      doc: `${event}.lastTimestamp`,
      cell: (object, now) => lastSeen(read(object), now),
    },
    { name: "Type", type: "string", doc: `${event}.type`, cell: (object) => read(object).type ?? "" },
    { name: "Reason", type: "string", doc: `${event}.reason`, cell: (object) => read(object).reason ?? "" },
    { name: "Object", type: "string", doc: `${event}.involvedObject`, cell: (object) => subject(read(object)) },
    {
      name: "Subobject",
      type: "string",
      priority: 1,
      doc: "io.k8s.api.core.v1.ObjectReference.fieldPath",
      cell: (object) => read(object).involvedObject.fieldPath ?? "",
    },
    { name: "Source", type: "string", priority: 1, doc: `${event}.source`, cell: (object) => sourceOf(read(object)) },
    { name: "Message", type: "string", doc: `${event}.message`, cell: (object) => (read(object).message ?? "").trim() },
    {
      name: "First Seen",
      type: "string",
      priority: 1,
      doc: `${event}.firstTimestamp`,
      cell: (object, now) => firstSeen(read(object), now),
    },
    { name: "Count", type: "string", priority: 1, doc: `${event}.count`, cell: (object) => countOf(read(object)) },
    { ...nameColumn, priority: 1 },
  ];
}

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return ageOf(firstTimestamp ?? eventTime, now);
}

function lastSeen(one: Event, now: number): string {
  if (one.series !== undefined) return ageOf(one.series.lastObservedTime, now);
  return (one.lastTimestamp ?? undefined) === undefined ? firstSeen(one, now) : ageOf(one.lastTimestamp, now);
}

/** Events of events.k8s.io/v1 have no count unless they form a series. */
function countOf({ series, count }: Event): number {
  return series === undefined ? count || 1 : (series.count ?? 0);
}

function subject({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? "").toLowerCase();
  return involvedObject.name ? `${kind}/${involvedObject.name}` : kind;
}

function sourceOf({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || (reportingComponent ?? "");
  const instance = source?.host || (reportingInstance ?? "");
  return instance === "" ? component : `${component}, ${instance}`;
}
