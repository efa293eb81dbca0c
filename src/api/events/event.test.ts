import { describe, expect, it } from "vitest";
import { changeFaults, faults } from "../testing/pure-server.ts";
import type { Event as EventObject } from "../types/events-v1.ts";
import { Event, fromCoreEvent, toCoreEvent } from "./event.ts";

const event: EventObject = {
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { name: "one", namespace: "ns" },
  eventTime: "2020-01-01T00:00:00.000000Z",
  reportingController: "example.com/c",
  reportingInstance: "c-1",
  action: "Act",
  reason: "Because",
  regarding: { kind: "Pod", namespace: "ns", name: "p" },
  note: "text",
  type: "Normal",
};

describe("events in two forms", () => {
  it("goes to the stored form and back", () => {
    const stored = toCoreEvent(event);
    expect(stored).toMatchObject({
      apiVersion: "v1",
      involvedObject: { name: "p" },
      message: "text",
      reportingComponent: "example.com/c",
    });
    expect(fromCoreEvent(stored)).toEqual(event);
  });

  it("shows what older clients wrote under its deprecated names", () => {
    const old = {
      metadata: {},
      involvedObject: {},
      source: { component: "c" },
      firstTimestamp: "2020-01-01T00:00:00Z",
      count: 3,
    };
    expect(fromCoreEvent(old)).toMatchObject({
      deprecatedSource: { component: "c" },
      deprecatedFirstTimestamp: "2020-01-01T00:00:00Z",
      deprecatedCount: 3,
    });
  });

  it("can be selected by the names of this form", () => {
    const selected = ["regarding.name", "reportingController", "reason"].map((name) =>
      Event.selectableFields?.valueOf(event, name),
    );
    expect(selected).toEqual(["p", "example.com/c", "Because"]);
  });
});

describe("what newer events must say", () => {
  const { apiVersion: _, kind: __, metadata: ___, ...body } = event;

  it.each<[object, readonly string[]]>([
    [{}, []],
    [{ type: "Odd" }, ['type: Invalid value: "": has invalid value: Odd']],
    [{ deprecatedCount: 2 }, ['count: Invalid value: "": needs to be unset']],
    [
      { series: { count: 1, lastObservedTime: "2020-01-01T00:00:00.000000Z" } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
    [{ reason: "" }, ["reason: Required value"]],
  ])("%j", (change, want) => expect(faults(Event, { ...body, ...change } as never)).toEqual(want));

  it("changes nothing but its series", () => {
    const series = { count: 2, lastObservedTime: "2020-01-01T00:01:00.000000Z" };
    expect(changeFaults(Event, body as never, { ...body, series } as never)).toEqual([]);
    expect(changeFaults(Event, body as never, { ...body, reason: "Other" } as never)).toEqual([
      'reason: Invalid value: "Other": field is immutable',
    ]);
  });
});
