import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { node } from "../testing/index.ts";
import { nodeEvents } from "./object-changes.ts";

const ready = (status: string, message: string, heartbeat: string): core.NodeCondition[] => [
  { type: "Ready", status, message, lastHeartbeatTime: heartbeat },
  { type: "DiskPressure", status: "False" },
];

const withConditions = (conditions: core.NodeCondition[]): core.Node => {
  const plain = node("n");
  return { ...plain, status: { ...plain.status, conditions } };
};

describe("what is different about a node", () => {
  const one = withConditions(ready("True", "posting", "2026-01-01T00:00:00Z"));
  it.each([
    { name: "nothing", old: one, now: one, want: [] },
    {
      name: "a heartbeat with other words",
      old: one,
      now: withConditions(ready("True", "still posting", "2026-01-01T00:00:10Z")),
      want: [],
    },
    {
      name: "conditions in another order",
      old: one,
      now: withConditions(ready("True", "posting", "2026-01-01T00:00:00Z").reverse()),
      want: [],
    },
    {
      name: "it is no longer ready",
      old: one,
      now: withConditions(ready("False", "posting", "2026-01-01T00:00:00Z")),
      want: ["condition"],
    },
    { name: "it is cordoned", old: node("n"), now: node("n", { unschedulable: true }), want: [] },
    { name: "it is open again", old: node("n", { unschedulable: true }), now: node("n"), want: ["taints"] },
    {
      name: "taints, labels and what it has",
      old: node("n"),
      now: node("n", { taints: [{ key: "k", effect: "NoSchedule" }], labels: { a: "b" }, allocatable: { cpu: "9" } }),
      want: ["allocatable", "labels", "taints"],
    },
  ])("$name", ({ old, now, want }) => {
    expect(nodeEvents(old, now).map(({ action }) => action)).toEqual(want);
  });
});
