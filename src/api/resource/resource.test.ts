import { describe, expect, it } from "vitest";
import { changeFaults, create, faults, updateStatus } from "../testing/pure-server.ts";
import { DeviceClass } from "./device-class.ts";
import { ResourceClaim } from "./resource-claim.ts";
import { ResourceSlice } from "./resource-slice.ts";

const metadata = { name: "one" };
const request = { name: "r", exactly: { deviceClassName: "c" } };
const spec = (requests: readonly object[], more: object = {}) => ({ devices: { requests, ...more } });

describe("ResourceClaim", () => {
  it("asks for one device", () => {
    expect(create(ResourceClaim, { metadata, spec: spec([request]) } as never).object).toMatchObject({
      spec: { devices: { requests: [{ exactly: { allocationMode: "ExactCount", count: 1 } }] } },
    });
  });

  it.each<[object, readonly string[]]>([
    [spec([request, request]), ['spec.devices.requests[1]: Duplicate value: "r"']],
    [
      spec([{ name: "r", exactly: { deviceClassName: "" } }]),
      ["spec.devices.requests[0].exactly.deviceClassName: Required value"],
    ],
    [
      spec([{ name: "r", firstAvailable: [{ name: "s", deviceClassName: "c" }] }], {
        constraints: [{ requests: ["r/s"], matchAttribute: "a.com/x" }],
      }),
      [],
    ],
    [
      spec([request], { constraints: [{}] }),
      ["spec.devices.constraints[0]: Required value: exactly one field must be specified"],
    ],
  ])("%j", (body, want) => expect(faults(ResourceClaim, { spec: body } as never)).toEqual(want));

  it("keeps what it asks for", () => {
    expect(changeFaults(ResourceClaim, { spec: spec([request]) } as never, { spec: spec([]) } as never)).toHaveLength(
      1,
    );
  });

  it("is reserved only when allocated, and only once for each consumer", () => {
    const { object } = create(ResourceClaim, { metadata, spec: spec([request]) } as never);
    const reservedFor = [{ resource: "pods", name: "p", uid: "1" }];
    const status = (value: object) =>
      updateStatus(ResourceClaim, { metadata, spec: spec([request]), status: value } as never, object).errors.map(
        ({ field }) => field,
      );
    expect(status({ reservedFor })).toEqual(["status.reservedFor"]);
    expect(status({ allocation: {}, reservedFor })).toEqual([]);
    expect(status({ allocation: {}, reservedFor: [...reservedFor, ...reservedFor] })).toEqual([
      "status.reservedFor[1].uid",
    ]);
  });

  it.each<[object, string]>([
    [{}, "pending"],
    [{ status: { allocation: {} } }, "allocated"],
    [{ status: { allocation: {}, reservedFor: [{}] } }, "allocated,reserved"],
    [{ metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } }, "deleted"],
  ])("%j is shown as %s", (object, want) =>
    expect(ResourceClaim.columns?.[0]?.cell({ metadata, spec: {}, ...object }, 0)).toBe(want),
  );
});

describe("what drivers offer", () => {
  const slice = { driver: "d.example.com", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };

  it.each<[object, readonly string[]]>([
    [{}, []],
    [{ driver: "" }, ["spec.driver: Required value"]],
    [
      { nodeName: undefined },
      [
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
      ],
    ],
    [{ devices: [{ name: "a" }, { name: "a" }] }, ['spec.devices[1]: Duplicate value: "a"']],
    [
      { pool: { ...slice.pool, resourceSliceCount: 0 } },
      ["spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"],
    ],
  ])("%j", (change, want) => expect(faults(ResourceSlice, { spec: { ...slice, ...change } } as never)).toEqual(want));

  it("keeps whose it is", () => {
    const other = { ...slice, driver: "e.example.com", nodeName: "m" };
    expect(changeFaults(ResourceSlice, { spec: slice }, { spec: other })).toEqual([
      'spec.driver: Invalid value: "e.example.com": field is immutable',
      'spec.nodeName: Invalid value: "m": field is immutable',
    ]);
  });

  it("is sorted into classes by selectors", () => {
    expect(faults(DeviceClass, { spec: { selectors: [{}], config: [{}] } })).toEqual([
      "spec.selectors[0].cel: Required value",
      "spec.config[0].opaque: Required value",
    ]);
  });
});

it("a taint of a device has a time", () => {
  const devices = [{ name: "d", taints: [{ key: "a", effect: "NoSchedule" }] }];
  const body = {
    metadata,
    spec: { driver: "d.example.com", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, devices },
  };
  expect(create(ResourceSlice, body).object).toMatchObject({
    spec: { devices: [{ taints: [{ timeAdded: "1970-01-01T00:00:00Z" }] }] },
  });
});
