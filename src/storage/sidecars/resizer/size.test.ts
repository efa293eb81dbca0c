import { expect, it } from "vitest";
import type { core } from "#api";
import { wantedSize } from "./size.ts";

type Status = NonNullable<core.PersistentVolumeClaim["status"]>;
type State = NonNullable<Status["allocatedResourceStatuses"]>[string];

const claim = (requested: string, capacity: string, allocated?: string, state?: State): core.PersistentVolumeClaim => ({
  metadata: { name: "c", namespace: "default", uid: "u" },
  spec: { resources: { requests: { storage: requested } }, volumeName: "pv" },
  status: {
    phase: "Bound",
    capacity: { storage: capacity },
    ...(allocated !== undefined && { allocatedResources: { storage: allocated } }),
    ...(state !== undefined && { allocatedResourceStatuses: { storage: state } }),
  },
});
const volume = (storage: string): core.PersistentVolume => ({
  metadata: { name: "pv" },
  spec: { capacity: { storage }, claimRef: { uid: "u" } },
});

it.each<[string, core.PersistentVolumeClaim, string, boolean, string | undefined, boolean]>([
  ["nothing asked for", claim("1Gi", "1Gi"), "1Gi", false, undefined, false],
  ["more asked for", claim("2Gi", "1Gi"), "1Gi", false, "2Gi", true],
  ["it is under way", claim("2Gi", "1Gi", "2Gi", "ControllerResizeInProgress"), "1Gi", false, "2Gi", false],
  ["even more meanwhile", claim("3Gi", "1Gi", "2Gi", "ControllerResizeInProgress"), "1Gi", false, "2Gi", false],
  ["less after a final error", claim("2Gi", "1Gi", "9Gi", "ControllerResizeInProgress"), "1Gi", true, "2Gi", true],
  ["less after an open end", claim("2Gi", "1Gi", "9Gi", "ControllerResizeInProgress"), "1Gi", false, "9Gi", false],
  ["less than what is infeasible", claim("2Gi", "1Gi", "9Gi", "ControllerResizeInfeasible"), "1Gi", false, "2Gi", true],
  ["the node has to finish first", claim("3Gi", "1Gi", "2Gi", "NodeResizePending"), "2Gi", false, undefined, false],
  ["the node is at it", claim("2Gi", "1Gi", "2Gi", "NodeResizeInProgress"), "2Gi", false, undefined, false],
  ["the node cannot", claim("2Gi", "1Gi", "2Gi", "NodeResizeInfeasible"), "2Gi", false, "2Gi", false],
  ["done but not recorded", claim("2Gi", "1Gi", "2Gi", "ControllerResizeInProgress"), "2Gi", false, "2Gi", false],
  ["a larger volume, never begun", claim("2Gi", "1Gi"), "4Gi", false, "2Gi", true],
])("%s", (_, of, size, failedFinally, want, isNew) => {
  const found = wantedSize({ claim: of, volume: volume(size), failedFinally, expandsByController: true });
  expect(found).toEqual(want === undefined ? undefined : { size: want, isNew });
});

it("a volume of another claim is left alone", () => {
  const other = { ...volume("1Gi"), spec: { claimRef: { uid: "v" } } };
  const facts = { claim: claim("2Gi", "1Gi"), volume: other, failedFinally: false, expandsByController: true };
  expect(wantedSize(facts)).toBeUndefined();
});
