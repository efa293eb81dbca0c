import { describe, expect, it } from "vitest";
import { fieldErrorText } from "../machinery/errors/field-error.ts";
import { changeFaults, create, faults, updateStatus } from "../testing/pure-server.ts";
import { DeviceClass } from "./device-class.ts";
import { ResourceClaim, ResourceClaimTemplate } from "./resource-claim.ts";
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
      [
        'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ],
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
      "status.reservedFor[1]",
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

describe("requests, constraints and configuration", () => {
  const at = "spec.devices";
  const label = /^spec.devices.requests\[0\].name: Invalid value: "": a lowercase RFC 1123 label/;

  it.each<[object, readonly (string | RegExp)[]]>([
    [spec([{ ...request, name: "" }]), [label]],
    [
      spec([{ ...request, firstAvailable: [{ name: "Bad", deviceClassName: "" }] }]),
      [
        `${at}.requests[0]: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
      ],
    ],
    [
      spec([{ name: "r", exactly: { deviceClassName: "c", selectors: [{}, { cel: { expression: "x" } }] } }]),
      [
        `${at}.requests[0].exactly.selectors[0].cel: Required value`,
        /selectors\[1\].cel.expression: Invalid value: "x": compilation failed: ERROR: <input>:1:1: undeclared reference/,
      ],
    ],
    [
      spec([{ name: "r", exactly: { deviceClassName: "c", selectors: [{ cel: { expression: "device.driver" } }] } }]),
      [/must evaluate to bool or the unknown type, not string/],
    ],
    [
      spec([
        {
          name: "r",
          exactly: {
            deviceClassName: "c",
            tolerations: [{ operator: "Exists", value: "v" }, { value: "!" }, { operator: "In", effect: "Never" }],
          },
        },
      ]),
      [
        /tolerations\[0\].value: Invalid value: "v": must be empty for operator `Exists`/,
        /tolerations\[1\].value: Invalid value: "!": a valid label/,
        /tolerations\[2\].operator: Unsupported value: "In": supported values: "Equal", "Exists"/,
        /tolerations\[2\].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"/,
      ],
    ],
    [
      spec([request], { constraints: [{ requests: ["r", "r", "a/b/c"], distinctAttribute: "x" }] }),
      [
        /constraints\[0\].requests\[2\]: Invalid value: "a\/b\/c": must be the name of a request/,
        `${at}.constraints[0].requests[1]: Duplicate value: "r"`,
        /distinctAttribute: Invalid value: "x": a fully qualified name must be a domain and a name/,
      ],
    ],
    [
      spec([request], { config: [{}, { opaque: { driver: "", parameters: [] } }, { opaque: { driver: "d.com" } }] }),
      [
        `${at}.config[0].opaque: Required value`,
        `${at}.config[1].opaque.driver: Required value`,
        `${at}.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`,
        `${at}.config[2].opaque.parameters: Required value`,
      ],
    ],
  ])("%j", (body, want) => {
    const got = faults(ResourceClaim, { spec: body } as never);
    expect(got).toHaveLength(want.length);
    for (const [i, text] of got.entries()) expect(text).toMatch(want[i] ?? "");
  });

  it("of a template pass on labels and annotations only", () => {
    const template = { metadata: { labels: { a: "b" }, name: "x", uid: "u", finalizers: [] }, spec: spec([request]) };
    expect(faults(ResourceClaimTemplate, { spec: template } as never)).toEqual([
      "spec.metadata.name: Forbidden: cannot be set",
      "spec.metadata.uID: Forbidden: cannot be set",
      "spec.metadata.finalizers: Forbidden: cannot be set",
    ]);
  });
});

describe("devices of a slice", () => {
  const slice = { driver: "d.example.com", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };
  const own = { ...slice, nodeName: undefined, perDeviceNodeSelection: true };
  const shared = (requestPolicy: object) => ({
    name: "a",
    allNodes: true,
    allowMultipleAllocations: true,
    capacity: { c: { value: "10", requestPolicy } },
  });

  it.each<[object, readonly string[]]>([
    [
      { ...slice, devices: [{ name: "a", allNodes: true }] },
      [
        "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
      ],
    ],
    [
      { ...own, devices: [{ name: "a" }] },
      [
        "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
      ],
    ],
    [
      { ...slice, devices: [{ name: "a", bindingConditions: ["x", "x"] }] },
      [
        'spec.devices[0].bindingConditions[1]: Duplicate value: "x"',
        "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
      ],
    ],
    [
      { ...slice, devices: [{ name: "a", consumesCounters: [{ counterSet: "", counters: {} }] }] },
      [
        "spec.devices[0].consumesCounters[0].counterSet: Required value",
        "spec.devices[0].consumesCounters[0].counters: Required value",
      ],
    ],
    [
      { ...slice, devices: [{ name: "a", attributes: { v: { version: "1" }, n: {}, two: { int: 1, bool: true } } }] },
      [
        "spec.devices[0].attributes[n]: Required value: exactly one value must be specified",
        'spec.devices[0].attributes[two]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
        'spec.devices[0].attributes[v].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
      ],
    ],
    [{ ...slice, sharedCounters: [{ name: "n", counters: { c: { value: "1" } } }] }, []],
    [
      { ...slice, devices: [], sharedCounters: [] },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ],
    [
      { ...slice, nodeName: "", allNodes: false },
      [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
        "spec.allNodes: Invalid value: false: must be either unset or set to true",
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
      ],
    ],
    [
      { ...slice, devices: [{ name: "a", capacity: { c: { value: "1", requestPolicy: {} } } }] },
      ["spec.devices[0].capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be true"],
    ],
    [{ ...own, devices: [shared({ default: "2", validRange: { min: "2", max: "8", step: "2" } })] }, []],
    [
      { ...own, devices: [shared({ default: "1", validRange: { min: "2", max: "12", step: "3" } })] },
      [
        'spec.devices[0].capacity[c].requestPolicy.validRange.default: Invalid value: "1": default is less than min: 2',
        'spec.devices[0].capacity[c].requestPolicy.validRange.max: Invalid value: "12": max is larger than capacity value: 10',
        'spec.devices[0].capacity[c].requestPolicy.validRange.step: Invalid value: "1": value is not a multiple of a given step (3) from (2)',
        'spec.devices[0].capacity[c].requestPolicy.validRange.step: Invalid value: "12": value is not a multiple of a given step (3) from (2)',
      ],
    ],
    [
      { ...own, devices: [shared({ default: "3", validValues: ["2", "1", "20", "1"] })] },
      [
        'spec.devices[0].capacity[c].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
        'spec.devices[0].capacity[c].requestPolicy.validValues[3]: Invalid value: "1": values must be sorted in ascending order',
        'spec.devices[0].capacity[c].requestPolicy.validValues[2]: Invalid value: "20": option is larger than capacity value: 10',
        'spec.devices[0].capacity[c].requestPolicy.validValues[3]: Duplicate value: "1"',
        'spec.devices[0].capacity[c].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
      ],
    ],
  ])("%j", (body, want) => expect(faults(ResourceSlice, { spec: body } as never)).toEqual(want));
});

it.each<[string, boolean]>([
  ["example.com/gpu", true],
  ["gpu", false],
  ["kubernetes.io/gpu", false],
  ["example.com/a b", false],
])("the extended resource %s of a class", (extendedResourceName, valid) => {
  const want = `spec.extendedResourceName: Invalid value: "${extendedResourceName}": must be a valid extended resource name`;
  expect(faults(DeviceClass, { spec: { extendedResourceName } })).toEqual(valid ? [] : [want]);
});

it("the status lists devices that are allocated", () => {
  const { object } = create(ResourceClaim, { metadata, spec: spec([request]) } as never);
  const result = { request: "r", driver: "d.com", pool: "p", device: "d" };
  const device = { driver: "d.com", pool: "p", device: "d" };
  const status = (devices: readonly object[]) =>
    updateStatus(
      ResourceClaim,
      { metadata, spec: spec([request]), status: { allocation: { devices: { results: [result] } }, devices } } as never,
      object,
    ).errors.map(fieldErrorText);
  expect(status([{ ...device, networkData: { ips: ["10.0.0.1/8"] } }])).toEqual([]);
  expect(status([{ ...device, shareID: "x", networkData: { ips: ["10.0.0.01/8"] } }])).toEqual([
    'status.devices[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
    'status.devices[0]: Invalid value: "d.com/p/d/x": must be an allocated device in the claim',
    'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.01/8": must be in canonical form ("10.0.0.1/8")',
  ]);
});

it("a class's name is a DNS subdomain of bytes", () => {
  expect(faults(DeviceClass, { metadata: { name: "x".repeat(254) }, spec: {} })).toEqual([
    `metadata.name: Invalid value: "${"x".repeat(254)}": must be no more than 253 bytes`,
  ]);
});
