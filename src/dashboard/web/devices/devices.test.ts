/** Devices, claims and extended resources as rows. */
import { describe, expect, it } from "vitest";
import { type Claim, claimRow, devicesOf, extendedOf, type Slice } from "./devices.ts";

const meta = (name: string, namespace?: string) => ({ name, namespace, uid: name });
const slice = (generation: number, devices: readonly object[], pool = "node-1") =>
  ({
    metadata: meta(`slice-${pool}-${generation}`),
    spec: {
      driver: "gpu.example.com",
      pool: { name: pool, generation, resourceSliceCount: 1 },
      nodeName: "node-1",
      devices,
    },
  }) as unknown as Slice;
const claim = (name: string, more: object) =>
  ({ metadata: meta(name, "default"), spec: {}, ...more }) as unknown as Claim;
const results = (...devices: string[]) =>
  devices.map((device) => ({ request: "r", driver: "gpu.example.com", pool: "node-1", device }));
const allocated = (name: string, devices: string[], more: object = {}) =>
  claim(name, { status: { allocation: { devices: { results: results(...devices) } }, ...more } });
const pod = (more: object) => ({ metadata: meta("train", "default"), ...more }) as never;
const health = (state: string) =>
  pod({
    status: {
      containerStatuses: [
        {
          allocatedResourcesStatus: [
            { name: "claim:gpus", resources: [{ resourceID: "gpu.example.com/node-1/gpu-0", health: state }] },
          ],
        },
      ],
    },
  });

describe("devices", () => {
  it.each([
    { name: "free", devices: [{ name: "gpu-0" }], want: "free" },
    { name: "in use", claims: [allocated("c", ["gpu-0"])], want: "in use" },
    { name: "unhealthy", claims: [allocated("c", ["gpu-0"])], pods: [health("Unhealthy")], want: "unhealthy" },
    { name: "of unknown health", pods: [health("Unknown")], want: "health unknown" },
    {
      name: "tainted",
      devices: [{ name: "gpu-0", taints: [{ key: "hot", value: "90", effect: "NoSchedule" }] }],
      want: "tainted",
    },
    { name: "with a note only", devices: [{ name: "gpu-0", taints: [{ key: "hot", effect: "None" }] }], want: "free" },
  ])("$name", ({ devices = [{ name: "gpu-0" }], claims = [], pods = [], want }) => {
    expect(devicesOf([slice(1, devices)], claims, pods)).toMatchObject([{ name: "gpu-0", state: want }]);
  });

  it("have attributes, capacity and taints as text, and their holders", () => {
    const device = {
      name: "gpu-0",
      attributes: { model: { string: "a100" }, cores: { int: 8 }, fast: { bool: true } },
      capacity: { memory: { value: "40Gi" } },
      taints: [{ key: "hot", value: "90", effect: "NoExecute" }],
    };
    expect(devicesOf([slice(1, [device])], [allocated("c", ["gpu-0", "gpu-0"])], [])).toMatchObject([
      {
        node: "node-1",
        attributes: "model=a100, cores=8, fast=true",
        capacity: "memory 40Gi",
        taints: "hot=90:NoExecute",
        holders: [{ namespace: "default", name: "c" }],
      },
    ]);
  });

  it("of older generations of a pool do not count", () => {
    const found = devicesOf(
      [slice(1, [{ name: "old" }]), slice(2, [{ name: "new" }]), slice(1, [{ name: "x" }], "b")],
      [],
      [],
    );
    expect(found.map(({ name }) => name)).toEqual(["new", "x"]);
  });
});

describe("claims", () => {
  const spec = (...requests: object[]) => ({ devices: { requests } });
  it.each([
    ["pending", claim("c", {}), { state: "pending", devices: "" }],
    ["allocated", allocated("c", ["gpu-0"]), { state: "allocated", devices: "node-1/gpu-0" }],
    [
      "reserved, with conditions",
      allocated("c", ["gpu-0"], {
        reservedFor: [{ resource: "pods", name: "train", uid: "u" }],
        devices: [{ ...results("gpu-0")[0], conditions: [{ type: "Ready", status: "False", reason: "Hot" }] }],
      }),
      { state: "reserved", pods: ["train"], conditions: "gpu-0 Ready=False (Hot)" },
    ],
    [
      "what it wants",
      claim("c", {
        spec: spec(
          { name: "a", exactly: { deviceClassName: "gpu", count: 2 } },
          {
            name: "b",
            firstAvailable: [{ deviceClassName: "big" }, { deviceClassName: "small", allocationMode: "All" }],
          },
        ),
      }),
      { wants: "2 × gpu, 1 × big or all of small" },
    ],
  ])("%s", (_, given, want) => {
    expect(claimRow(given)).toMatchObject(want);
  });
});

describe("extended resources", () => {
  const node = {
    metadata: meta("node-1"),
    status: {
      capacity: { cpu: "4", "example.com/fpga": "2", "hugepages-2Mi": "0", "node.kubernetes.io/x": "1" },
      allocatable: { "example.com/fpga": "1" },
    },
  } as never;
  const uses = (phase: string) =>
    pod({
      spec: { nodeName: "node-1", containers: [{ resources: { limits: { "example.com/fpga": "1" } } }] },
      status: { phase },
    });

  it.each([
    ["Running", 1],
    ["Succeeded", 0],
  ])("are counted for Pods that are %s", (phase, used) => {
    expect(extendedOf([node], [uses(phase)])).toMatchObject([
      { resource: "example.com/fpga", capacity: 2, allocatable: 1, used },
    ]);
  });
});
