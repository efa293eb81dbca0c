/** The durations of operations, under upstream's names. */
import { expect, it } from "vitest";
import { MetricsRegistry } from "#base";
import { operationMetrics } from "./operations.ts";

const snapshot = {
  key: "n/s",
  uid: "u",
  driver: "d",
  isGiven: false,
  isCreated: false,
  isReady: false,
  isDeleted: false,
};

/** `CreateSnapshot success 2`: the operation, its end, and the sum of seconds. */
function ended(registry: MetricsRegistry): readonly string[] {
  const lines = registry.text().split("\n");
  return lines.flatMap((line) => {
    const found =
      /_total_seconds_sum\{driver_name="d",operation_name="(\w+)",snapshot_type="dynamic",operation_status="(\w+)"\} (\S+)/.exec(
        line,
      );
    return found === null ? [] : [found.slice(1).join(" ")];
  });
}

it("an operation lasts from the first look to its end, and a deletion cancels the rest", () => {
  const registry = new MetricsRegistry();
  const operations = operationMetrics(registry).of("Snapshot");
  operations.seen(snapshot, 1_000);
  operations.seen(snapshot, 1_500);
  expect(registry.text()).toContain("snapshot_controller_operations_in_flight 2");
  operations.seen({ ...snapshot, isCreated: true }, 3_000);
  expect(ended(registry)).toEqual(["CreateSnapshot success 2"]);
  operations.seen({ ...snapshot, isCreated: true, isDeleted: true }, 4_000);
  operations.gone("n/s", 5_000);
  expect(ended(registry).toSorted()).toEqual([
    "CreateSnapshot success 2",
    "CreateSnapshotAndReady cancel 4",
    "DeleteSnapshot success 1",
  ]);
  expect(registry.text()).toContain("snapshot_controller_operations_in_flight 0");
});
