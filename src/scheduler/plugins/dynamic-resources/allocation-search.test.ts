/** The allocator's decisions, as the documentation of each feature of dynamic resource allocation states them. */
import { describe, expect, it } from "vitest";
import type { resource } from "#api";
import { claimFor, DRIVER, deviceClass, devices, exactly, slice } from "../../testing/devices.ts";
import { allocationOf } from "./allocation-result.ts";
import { searchDevices } from "./allocation-search.ts";
import { ALL_DEVICE_FEATURES } from "./device-features.ts";
import { DevicePools } from "./device-pools.ts";
import { DeviceSelectors } from "./device-selectors.ts";
import { TaintRules } from "./device-taints.ts";
import { DeviceUse } from "./device-use.ts";
import { wantedBy } from "./requests.ts";

interface Given {
  readonly slices: readonly resource.ResourceSlice[];
  readonly claims: readonly resource.ResourceClaim[];
  readonly classes?: readonly resource.DeviceClass[];
  readonly allocated?: readonly Partial<resource.DeviceRequestAllocationResult>[];
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly isLate?: boolean;
}

function allocations(given: Given): readonly resource.AllocationResult[] | string {
  const { slices, claims, classes = [deviceClass("gpu")], allocated = [], node = "a", labels = {} } = given;
  const pools = new DevicePools();
  for (const each of slices) pools.set(each);
  const use = new DeviceUse();
  use.set("other", {
    devices: {
      results: allocated.map((each) => ({ request: "r", driver: DRIVER, pool: "a", device: "gpu-0", ...each })),
    },
  });
  const wanted = claims.map((claim) => {
    const found = wantedBy(claim, (name) => classes.find(({ metadata }) => metadata.name === name));
    if ("fault" in found) throw new Error(found.fault);
    return found;
  });
  const found = searchDevices(wanted, {
    pools: pools.forNode({ name: node, labels }),
    use,
    selectors: new DeviceSelectors(),
    features: ALL_DEVICE_FEATURES,
    taintRules: new TaintRules(),
    isLate: () => given.isLate === true,
  });
  if (typeof found === "string") return found;
  let shares = 0;
  return wanted.map((each, i) => allocationOf(each, found[i] ?? [], node, () => `share-${shares++}`));
}

/** `request: pool/device` by claim, or why there is no allocation. */
function picks(given: Given): readonly string[] | string {
  try {
    const found = allocations(given);
    if (typeof found === "string") return found;
    return found.map(({ devices: { results = [] } = {} }) =>
      results.map(({ request, pool, device }) => `${request}: ${pool}/${device}`).join(", "),
    );
  } catch (error) {
    return (error as Error).message;
  }
}

const attribute = (value: resource.DeviceAttribute, name = "model") => ({ attributes: { [name]: value } });
const model = (name: string, value: string, more: Partial<resource.Device> = {}): resource.Device => ({
  name,
  ...attribute({ string: value }),
  ...more,
});
const IS = (value: string) => `device.attributes["${DRIVER}"].model == "${value}"`;
const TAINT: resource.DeviceTaint = { key: "broken", value: "yes", effect: "NoSchedule" };
const one = claimFor("c", [exactly("r")]);

describe("selectors", () => {
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "any device",
      given: { slices: [slice("s", devices(2), { on: "a" })], claims: [one] },
      want: ["r: a/gpu-0"],
    },
    { name: "no slice", given: { slices: [], claims: [one] }, want: "none" },
    {
      name: "by attribute",
      given: {
        slices: [slice("s", [model("x", "small"), model("y", "large")], { on: "a" })],
        claims: [claimFor("c", [exactly("r", { where: [IS("large")] })])],
      },
      want: ["r: a/y"],
    },
    {
      name: "of class and request, all of them",
      given: {
        slices: [
          slice("s", [model("x", "large"), model("y", "large", { capacity: { memory: { value: "8Gi" } } })], {
            on: "a",
          }),
        ],
        classes: [deviceClass("gpu", [`device.driver == "${DRIVER}"`, `"memory" in device.capacity["${DRIVER}"]`])],
        claims: [claimFor("c", [exactly("r", { where: [IS("large")] })])],
      },
      want: ["r: a/y"],
    },
    {
      name: "by capacity",
      given: {
        slices: [
          slice(
            "s",
            [
              { name: "x", capacity: { memory: { value: "4Gi" } } },
              { name: "y", capacity: { memory: { value: "8Gi" } } },
            ],
            { on: "a" },
          ),
        ],
        claims: [
          claimFor("c", [
            exactly("r", { where: [`device.capacity["${DRIVER}"].memory.compareTo(quantity("6Gi")) >= 0`] }),
          ]),
        ],
      },
      want: ["r: a/y"],
    },
    {
      name: "by version",
      given: {
        slices: [
          slice(
            "s",
            [
              { name: "x", ...attribute({ version: "1.9.0" }) },
              { name: "y", ...attribute({ version: "1.10.0" }) },
            ],
            { on: "a" },
          ),
        ],
        claims: [
          claimFor("c", [
            exactly("r", { where: [`device.attributes["${DRIVER}"].model.isGreaterThan(semver("1.9.5"))`] }),
          ]),
        ],
      },
      want: ["r: a/y"],
    },
    {
      name: "an attribute that the device does not have is an error of the claim",
      given: {
        slices: [slice("s", devices(1), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { where: [IS("large")] })])],
      },
      want: `claim default/c: selector #0 on device ${DRIVER}/a/gpu-0: CEL runtime error: no such key: model`,
    },
    {
      name: "and of the class",
      given: {
        slices: [slice("s", devices(1), { on: "a" })],
        classes: [deviceClass("gpu", [IS("large")])],
        claims: [one],
      },
      want: `class gpu: selector #0 on device ${DRIVER}/a/gpu-0: CEL runtime error: no such key: model`,
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });

  it("have a budget", () => {
    const list = `[${Array.from({ length: 60 }, (_, i) => i).join()}]`;
    const hungry = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    expect(
      picks({
        slices: [slice("s", devices(1), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { where: [hungry] })])],
      }),
    ).toContain("CEL runtime error: operation cancelled: actual cost limit exceeded");
  });
});

describe("what is asked for", () => {
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "a count",
      given: { slices: [slice("s", devices(3), { on: "a" })], claims: [claimFor("c", [exactly("r", { count: 2 })])] },
      want: ["r: a/gpu-0, r: a/gpu-1"],
    },
    {
      name: "more than there is",
      given: { slices: [slice("s", devices(3), { on: "a" })], claims: [claimFor("c", [exactly("r", { count: 4 })])] },
      want: "none",
    },
    {
      name: "more than a claim may have",
      given: { slices: [slice("s", devices(40), { on: "a" })], claims: [claimFor("c", [exactly("r", { count: 33 })])] },
      want: "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
    },
    {
      name: "all of them",
      given: {
        slices: [slice("s", devices(3), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { allocationMode: "All" })])],
      },
      want: ["r: a/gpu-0, r: a/gpu-1, r: a/gpu-2"],
    },
    {
      name: "all of them, but one is in use",
      given: {
        slices: [slice("s", devices(3), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { allocationMode: "All" })])],
        allocated: [{ device: "gpu-1" }],
      },
      want: "none",
    },
    {
      name: "all of none",
      given: {
        slices: [slice("s", [], { on: "a" })],
        claims: [claimFor("c", [exactly("r", { allocationMode: "All" })])],
      },
      want: "none",
    },
    {
      name: "two requests, of which the second is picky",
      given: {
        slices: [slice("s", [model("x", "large"), model("y", "small")], { on: "a" })],
        claims: [claimFor("c", [exactly("any"), exactly("big", { where: [IS("large")] })])],
      },
      want: ["any: a/y, big: a/x"],
    },
    {
      name: "two claims",
      given: {
        slices: [slice("s", [model("x", "large"), model("y", "small")], { on: "a" })],
        claims: [one, claimFor("d", [exactly("big", { where: [IS("large")] })])],
      },
      want: ["r: a/y", "big: a/x"],
    },
    {
      name: "what is in use already",
      given: { slices: [slice("s", devices(1), { on: "a" })], claims: [one], allocated: [{}] },
      want: "none",
    },
    {
      name: "admin access to what is in use",
      given: {
        slices: [slice("s", devices(1), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { adminAccess: true })])],
        allocated: [{}],
      },
      want: ["r: a/gpu-0"],
    },
    {
      name: "admin access does not count as use",
      given: { slices: [slice("s", devices(1), { on: "a" })], claims: [one], allocated: [{ adminAccess: true }] },
      want: ["r: a/gpu-0"],
    },
    {
      name: "admin access twice in one claim: other devices",
      given: {
        slices: [slice("s", devices(2), { on: "a" })],
        claims: [claimFor("c", [exactly("r", { adminAccess: true, count: 2 })])],
      },
      want: ["r: a/gpu-0, r: a/gpu-1"],
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("prioritized lists", () => {
  const list = (...options: (readonly [string, number, string])[]): resource.DeviceRequest => ({
    name: "r",
    firstAvailable: options.map(([name, count, value]) => ({
      name,
      deviceClassName: "gpu",
      count,
      selectors: [{ cel: { expression: IS(value) } }],
    })),
  });
  const both = [slice("s", [model("x", "small"), model("y", "small"), model("z", "large")], { on: "a" })];
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "the first",
      given: { slices: both, claims: [claimFor("c", [list(["big", 1, "large"], ["two", 2, "small"])])] },
      want: ["r/big: a/z"],
    },
    {
      name: "the second, if the first is in use",
      given: {
        slices: both,
        claims: [claimFor("c", [list(["big", 1, "large"], ["two", 2, "small"])])],
        allocated: [{ device: "z" }],
      },
      want: ["r/two: a/x, r/two: a/y"],
    },
    {
      name: "the second, if a later request needs the device of the first",
      given: {
        slices: both,
        claims: [
          claimFor("c", [list(["big", 1, "large"], ["two", 2, "small"]), exactly("q", { where: [IS("large")] })]),
        ],
      },
      want: ["r/two: a/x, r/two: a/y, q: a/z"],
    },
    {
      name: "the second, if the first is too many for a claim",
      given: {
        slices: [
          slice(
            "s",
            [...devices(31).map((each) => ({ ...each, ...attribute({ string: "small" }) })), model("z", "large")],
            { on: "a" },
          ),
        ],
        claims: [
          claimFor("c", [
            exactly("q", { count: 2, where: [IS("small")] }),
            list(["many", 31, "small"], ["one", 1, "large"]),
          ]),
        ],
      },
      want: ["q: a/gpu-0, q: a/gpu-1, r/one: a/z"],
    },
    {
      name: "none",
      given: { slices: both, claims: [claimFor("c", [list(["big", 2, "large"], ["three", 3, "small"])])] },
      want: "none",
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("constraints", () => {
  const zoned = (name: string, zone: number) => ({ name, attributes: { "example.com/zone": { int: zone } } });
  const pair = exactly("r", { count: 2 });
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "the same attribute",
      given: {
        slices: [slice("s", [zoned("x", 1), zoned("y", 2), zoned("z", 2)], { on: "a" })],
        claims: [claimFor("c", [pair], { constraints: [{ matchAttribute: "example.com/zone" }] })],
      },
      want: ["r: a/y, r: a/z"],
    },
    {
      name: "the same attribute of some requests only",
      given: {
        slices: [slice("s", [zoned("x", 1), zoned("y", 2), zoned("z", 2)], { on: "a" })],
        claims: [
          claimFor("c", [exactly("o"), exactly("p"), exactly("q")], {
            constraints: [{ matchAttribute: "example.com/zone", requests: ["p", "q"] }],
          }),
        ],
      },
      want: ["o: a/x, p: a/y, q: a/z"],
    },
    {
      name: "different attributes",
      given: {
        slices: [slice("s", [zoned("x", 1), zoned("y", 1), zoned("z", 2)], { on: "a" })],
        claims: [claimFor("c", [pair], { constraints: [{ distinctAttribute: "example.com/zone" }] })],
      },
      want: ["r: a/x, r: a/z"],
    },
    {
      name: "an attribute that the device does not have",
      given: {
        slices: [slice("s", devices(2), { on: "a" })],
        claims: [claimFor("c", [pair], { constraints: [{ matchAttribute: "example.com/zone" }] })],
      },
      want: "none",
    },
    {
      name: "the domain of the driver may be left out in the slice",
      given: {
        slices: [slice("s", [model("x", "m"), model("y", "n"), model("z", "m")], { on: "a" })],
        claims: [claimFor("c", [pair], { constraints: [{ matchAttribute: `${DRIVER}/model` }] })],
      },
      want: ["r: a/x, r: a/z"],
    },
    {
      name: "values of different types differ",
      given: {
        slices: [
          slice(
            "s",
            [
              { name: "x", ...attribute({ int: 1 }) },
              { name: "y", ...attribute({ string: "1" }) },
            ],
            { on: "a" },
          ),
        ],
        claims: [claimFor("c", [pair], { constraints: [{ matchAttribute: `${DRIVER}/model` }] })],
      },
      want: "none",
    },
    {
      name: "all devices, and they do not match: an error of the claim",
      given: {
        slices: [slice("s", [zoned("x", 1), zoned("y", 2)], { on: "a" })],
        claims: [
          claimFor("c", [exactly("r", { allocationMode: "All" })], {
            constraints: [{ matchAttribute: "example.com/zone" }],
          }),
        ],
      },
      want: `claim default/c, request r: cannot add device ${DRIVER}/a/y because a claim constraint would not be satisfied`,
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("taints", () => {
  const tainted = (effect: resource.DeviceTaint["effect"]) =>
    slice("s", [{ name: "x", taints: [{ ...TAINT, effect }] }], { on: "a" });
  const tolerating = (...tolerations: resource.DeviceToleration[]) => claimFor("c", [exactly("r", { tolerations })]);
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    { name: "NoSchedule", given: { slices: [tainted("NoSchedule")], claims: [one] }, want: "none" },
    { name: "NoExecute", given: { slices: [tainted("NoExecute")], claims: [one] }, want: "none" },
    { name: "None", given: { slices: [tainted("None")], claims: [one] }, want: ["r: a/x"] },
    {
      name: "tolerated by value",
      given: {
        slices: [tainted("NoSchedule")],
        claims: [tolerating({ key: "broken", operator: "Equal", value: "yes" })],
      },
      want: ["r: a/x"],
    },
    {
      name: "not with another value",
      given: {
        slices: [tainted("NoSchedule")],
        claims: [tolerating({ key: "broken", operator: "Equal", value: "no" })],
      },
      want: "none",
    },
    {
      name: "not with another effect",
      given: {
        slices: [tainted("NoSchedule")],
        claims: [tolerating({ key: "broken", operator: "Exists", effect: "NoExecute" })],
      },
      want: "none",
    },
    {
      name: "everything tolerated",
      given: { slices: [tainted("NoExecute")], claims: [tolerating({ operator: "Exists" })] },
      want: ["r: a/x"],
    },
    {
      name: "another device",
      given: { slices: [slice("s", [{ name: "x", taints: [TAINT] }, { name: "y" }], { on: "a" })], claims: [one] },
      want: ["r: a/y"],
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("pools", () => {
  const selector = (value: string): Partial<resource.ResourceSliceSpec> => ({
    nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [value] }] }] },
  });
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    { name: "of another node", given: { slices: [slice("s", devices(1), { on: "b" })], claims: [one] }, want: "none" },
    { name: "of all nodes", given: { slices: [slice("s", devices(1))], claims: [one] }, want: ["r: pool/gpu-0"] },
    {
      name: "of selected nodes",
      given: { slices: [slice("s", devices(1), { spec: selector("z1") })], claims: [one], labels: { zone: "z1" } },
      want: ["r: pool/gpu-0"],
    },
    {
      name: "of other selected nodes",
      given: { slices: [slice("s", devices(1), { spec: selector("z1") })], claims: [one], labels: { zone: "z2" } },
      want: "none",
    },
    {
      name: "whose devices choose",
      given: {
        slices: [
          slice(
            "s",
            [
              { name: "x", nodeName: "b" },
              { name: "y", nodeName: "a" },
            ],
            {
              spec: { allNodes: false, perDeviceNodeSelection: true },
            },
          ),
        ],
        claims: [one],
      },
      want: ["r: pool/y"],
    },
    {
      name: "incomplete",
      given: { slices: [slice("s", devices(1), { on: "a", slices: 2 })], claims: [one] },
      want: "none",
    },
    {
      name: "incomplete, and all devices are asked for",
      given: {
        slices: [slice("s", devices(1), { on: "a", slices: 2 })],
        claims: [claimFor("c", [exactly("r", { allocationMode: "All" })])],
      },
      want: `claim default/c, request r: asks for all devices, but resource pool ${DRIVER}/a is currently being updated`,
    },
    {
      name: "only the newest generation",
      given: {
        slices: [
          slice("old", [{ name: "x" }], { on: "a", generation: 1 }),
          slice("new", [{ name: "y" }], { on: "a", generation: 2 }),
        ],
        claims: [claimFor("c", [exactly("r", { allocationMode: "All" })])],
      },
      want: ["r: a/y"],
    },
    {
      name: "two devices with one name",
      given: { slices: [slice("s", [{ name: "x" }, { name: "x" }], { on: "a" })], claims: [one] },
      want: "invalid pools",
    },
    {
      name: "two devices with one name, and a valid pool",
      given: {
        slices: [
          slice("s", [{ name: "x" }, { name: "x" }], { on: "a" }),
          slice("t", devices(1), { on: "a", pool: "b" }),
        ],
        claims: [one],
      },
      want: ["r: b/gpu-0"],
    },
    {
      name: "those with binding conditions last",
      given: {
        slices: [
          slice("s", devices(1, { bindingConditions: ["Attached"] }), { on: "a" }),
          slice("t", devices(1), { on: "a", pool: "b" }),
        ],
        claims: [one],
      },
      want: ["r: b/gpu-0"],
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("partitionable devices", () => {
  const part = (name: string, memory: string): resource.Device => ({
    name,
    consumesCounters: [{ counterSet: "card", counters: { memory: { value: memory } } }],
  });
  const card = (...parts: resource.Device[]) => [
    slice("counters", [], {
      on: "a",
      slices: 2,
      spec: { sharedCounters: [{ name: "card", counters: { memory: { value: "10Gi" } } }] },
    }),
    slice("devices", parts, { on: "a", slices: 2 }),
  ];
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "parts up to the whole",
      given: {
        slices: card(part("half-0", "5Gi"), part("half-1", "5Gi"), part("whole", "10Gi")),
        claims: [claimFor("c", [exactly("r", { count: 2 })])],
      },
      want: ["r: a/half-0, r: a/half-1"],
    },
    {
      name: "not more",
      given: {
        slices: card(part("half-0", "5Gi"), part("half-1", "5Gi"), part("whole", "10Gi")),
        claims: [claimFor("c", [exactly("r", { count: 3 })])],
      },
      want: "none",
    },
    {
      name: "beside what is in use",
      given: {
        slices: card(part("whole", "10Gi"), part("half-0", "5Gi"), part("half-1", "5Gi")),
        claims: [one],
        allocated: [{ device: "half-0" }],
      },
      want: ["r: a/half-1"],
    },
    {
      name: "not the whole while a part is in use",
      given: {
        slices: card(part("whole", "10Gi"), part("half-0", "5Gi")),
        claims: [one],
        allocated: [{ device: "half-0" }],
      },
      want: "none",
    },
  ])("$name", ({ given, want }) => {
    expect(picks(given)).toEqual(want);
  });
});

describe("consumable capacity", () => {
  const link = (requestPolicy?: resource.CapacityRequestPolicy): resource.Device => ({
    name: "nic",
    allowMultipleAllocations: true,
    capacity: { bandwidth: { value: "10", ...(requestPolicy && { requestPolicy }) } },
  });
  const asking = (bandwidth?: string, name = "c") =>
    claimFor(name, [exactly("r", bandwidth === undefined ? {} : { capacity: { requests: { bandwidth } } })]);
  const consumed = (given: Given) => {
    const found = allocations(given);
    if (typeof found === "string") return found;
    return found.map(({ devices: { results = [] } = {} }) =>
      results.map(({ consumedCapacity, shareID }) => `${consumedCapacity?.bandwidth} ${shareID}`).join(),
    );
  };
  const range = { default: "1", validRange: { min: "2", max: "8", step: "2" } };
  it.each<{ name: string; given: Given; want: readonly string[] | string }>([
    {
      name: "as asked",
      given: { slices: [slice("s", [link()], { on: "a" })], claims: [asking("4")] },
      want: ["4 share-0"],
    },
    {
      name: "by two claims",
      given: { slices: [slice("s", [link()], { on: "a" })], claims: [asking("4"), asking("6", "d")] },
      want: ["4 share-0", "6 share-1"],
    },
    {
      name: "not more than there is",
      given: { slices: [slice("s", [link()], { on: "a" })], claims: [asking("4"), asking("7", "d")] },
      want: "none",
    },
    {
      name: "beside others",
      given: {
        slices: [slice("s", [link()], { on: "a" })],
        claims: [asking("4")],
        allocated: [{ device: "nic", shareID: "x", consumedCapacity: { bandwidth: "6" } }],
      },
      want: ["4 share-0"],
    },
    {
      name: "not beside others that have too much",
      given: {
        slices: [slice("s", [link()], { on: "a" })],
        claims: [asking("5")],
        allocated: [{ device: "nic", shareID: "x", consumedCapacity: { bandwidth: "6" } }],
      },
      want: "none",
    },
    {
      name: "everything without a request",
      given: { slices: [slice("s", [link()], { on: "a" })], claims: [asking()] },
      want: ["10 share-0"],
    },
    {
      name: "the policy's default without a request",
      given: { slices: [slice("s", [link(range)], { on: "a" })], claims: [asking()] },
      want: ["1 share-0"],
    },
    {
      name: "rounded up to a step",
      given: { slices: [slice("s", [link(range)], { on: "a" })], claims: [asking("5")] },
      want: ["6 share-0"],
    },
    {
      name: "at least the minimum",
      given: { slices: [slice("s", [link(range)], { on: "a" })], claims: [asking("1500m")] },
      want: ["2 share-0"],
    },
    {
      name: "not above the maximum",
      given: { slices: [slice("s", [link(range)], { on: "a" })], claims: [asking("9")] },
      want: "none",
    },
    {
      name: "the next valid value",
      given: {
        slices: [slice("s", [link({ default: "1", validValues: ["1", "4", "8"] })], { on: "a" })],
        claims: [asking("3")],
      },
      want: ["4 share-0"],
    },
    {
      name: "no valid value",
      given: {
        slices: [slice("s", [link({ default: "1", validValues: ["1", "4", "8"] })], { on: "a" })],
        claims: [asking("9")],
      },
      want: "none",
    },
    {
      name: "a capacity that the device does not have",
      given: {
        slices: [slice("s", devices(1), { on: "a" })],
        claims: [asking("1")],
      },
      want: "none",
    },
  ])("$name", ({ given, want }) => {
    expect(consumed(given)).toEqual(want);
  });
});

describe("an allocation", () => {
  it("has the configuration of classes and claims, without that of alternatives which were not taken", () => {
    const opaque = (value: string) => ({ opaque: { driver: DRIVER, parameters: { value } } });
    const gpu = { metadata: { name: "gpu" }, spec: { config: [opaque("class")] } };
    const list = { name: "l", firstAvailable: ["one", "two"].map((name) => ({ name, deviceClassName: "gpu" })) };
    const found = allocations({
      slices: [slice("s", devices(2), { on: "a" })],
      classes: [gpu],
      claims: [
        claimFor("c", [exactly("r"), list], {
          config: [
            { ...opaque("all") },
            { requests: ["r"], ...opaque("r") },
            { requests: ["l/two"], ...opaque("two") },
            { requests: ["l/one"], ...opaque("one") },
          ],
        }),
      ],
    });
    expect(found[0]).toMatchObject({
      devices: {
        config: [
          { source: "FromClass", ...opaque("class") },
          { source: "FromClaim", ...opaque("all") },
          { source: "FromClaim", requests: ["r"], ...opaque("r") },
          { source: "FromClaim", requests: ["l/one"], ...opaque("one") },
        ],
      },
    });
  });

  it.each<{ name: string; slices: readonly resource.ResourceSlice[]; want: unknown }>([
    {
      name: "for one node",
      slices: [slice("s", devices(1), { on: "a" })],
      want: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }] },
    },
    { name: "for all nodes", slices: [slice("s", devices(1))], want: undefined },
    {
      name: "for one node, because the device binds to it",
      slices: [slice("s", devices(1, { bindsToNode: true }))],
      want: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }] },
    },
    {
      name: "for selected nodes",
      slices: [
        slice("s", devices(1), {
          spec: {
            nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "Exists" }] }] },
          },
        }),
      ],
      want: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "Exists" }] }] },
    },
  ])("is $name", ({ slices, want }) => {
    const found = allocations({ slices, claims: [one], labels: { zone: "z" } });
    expect(typeof found === "string" ? found : found[0]?.nodeSelector).toEqual(want);
  });
});

describe("the search", () => {
  it("does not try devices again that differ in their names only", () => {
    const crowded = slice("s", devices(24, attribute({ int: 1 })), { on: "a" });
    const impossible = claimFor("c", [exactly("r", { count: 12 }), exactly("q", { where: ["false"] })]);
    expect(picks({ slices: [crowded], claims: [impossible] })).toBe("none");
  });

  it("ends when it has taken too long", () => {
    const distinct = devices(24).map((each, i) => ({ ...each, ...attribute({ int: i }) }));
    const impossible = claimFor("c", [exactly("r", { count: 12 }), exactly("q", { where: ["false"] })]);
    expect(picks({ slices: [slice("s", distinct, { on: "a" })], claims: [impossible], isLate: true })).toBe("late");
  });
});
