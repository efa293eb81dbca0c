import { describe, expect, it } from "vitest";
import { fieldErrorText } from "../machinery/errors/field-error.ts";
import { changeFaults, create, faults, update, updateStatus } from "../testing/pure-server.ts";
import { CSIDriver } from "./csi-driver.ts";
import { CSINode } from "./csi-node.ts";
import { CSIStorageCapacity } from "./csi-storage-capacity.ts";
import { StorageClass } from "./storage-class.ts";
import { VolumeAttachment } from "./volume-attachment.ts";
import { VolumeAttributesClass } from "./volume-attributes-class.ts";

const metadata = { name: "one" };

describe("StorageClass", () => {
  it("deletes, and binds at once", () => {
    expect(create(StorageClass, { metadata, provisioner: "example.com/p" }).object).toMatchObject({
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
    });
  });

  it.each<[object, readonly string[]]>([
    [{ provisioner: "" }, ["provisioner: Required value"]],
    [
      { provisioner: "p", reclaimPolicy: "Recycle" },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      { provisioner: "Bad One" },
      [
        `provisioner: Invalid value: "bad one": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
    [
      { provisioner: "p", allowedTopologies: [{}] },
      ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      {
        provisioner: "p",
        allowedTopologies: [0, 1].map(() => ({ matchLabelExpressions: [{ key: "k", values: ["v"] }] })),
      },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      {
        provisioner: "p",
        allowedTopologies: [
          {
            matchLabelExpressions: [
              { key: "k", values: ["v", "v"] },
              { key: "k", values: [] },
            ],
          },
        ],
      },
      [
        'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "v"',
        "allowedTopologies[0].matchLabelExpressions[1].values: Required value",
        'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "k"',
      ],
    ],
    [{ provisioner: "p", parameters: { "": "x" } }, ['parameters: Invalid value: "": field can not be empty.']],
  ])("%j", (body, want) => expect(faults(StorageClass, body as never)).toEqual(want));

  it("keeps how it makes volumes", () => {
    expect(changeFaults(StorageClass, { provisioner: "p" }, { provisioner: "q", parameters: { a: "b" } })).toEqual([
      'parameters: Invalid value: {"a":"b"}: field is immutable',
      'provisioner: Invalid value: "q": field is immutable',
    ]);
  });
});

describe("CSI", () => {
  it("counts a driver's changes from its first one on", () => {
    const old = create(CSIDriver, { metadata, spec: {} }).object;
    const next = (spec: object) => update(CSIDriver, { metadata, spec: { ...spec } }, old).object.metadata.generation;
    expect([next({}), next({ podInfoOnMount: true })]).toEqual([undefined, 1]);
  });

  it.each<[object, readonly string[]]>([
    [
      { nodeAllocatableUpdatePeriodSeconds: 9 },
      ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"],
    ],
    [
      { serviceAccountTokenInSecrets: false },
      [
        "spec.serviceAccountTokenInSecrets: Invalid value: false: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
      ],
    ],
  ])("a driver with %j", (spec, want) => expect(faults(CSIDriver, { spec } as never)).toEqual(want));

  it("drops what no gate enables, and warns of tokens in volume attributes", () => {
    const { object } = create(CSIDriver, {
      metadata,
      spec: { preventPodSchedulingIfMissing: true, tokenRequests: [{ audience: "a" }] },
    });
    expect(object).not.toHaveProperty("spec.preventPodSchedulingIfMissing");
    expect(CSIDriver.warnings?.(object as never, undefined)).toHaveLength(1);
  });

  it("keeps whether a driver attaches", () => {
    expect(changeFaults(CSIDriver, { spec: {} }, { spec: { attachRequired: false } })).toHaveLength(1);
  });

  it.each<[object, number]>([
    [{ drivers: [{ name: "d.example.com", nodeID: "n" }] }, 0],
    [{ drivers: [{ name: "d.example.com", nodeID: "" }] }, 1],
    [{ drivers: [{ name: "d", nodeID: "n", topologyKeys: ["a", "a"] }] }, 1],
    [
      {
        drivers: [
          { name: "d", nodeID: "n" },
          { name: "d", nodeID: "n" },
        ],
      },
      1,
    ],
  ])("a node's %j have %d faults", (spec, count) => expect(faults(CSINode, { spec } as never)).toHaveLength(count));

  it("keeps a node's driver as it is, but for what it can have", () => {
    const driver = { name: "d", nodeID: "n", topologyKeys: ["zone"] };
    const changed = (change: object) =>
      changeFaults(CSINode, { spec: { drivers: [driver] } }, {
        spec: { drivers: [{ ...driver, ...change }] },
      } as never);
    expect(changed({ allocatable: { count: 1 } })).toEqual([]);
    expect(changed({ nodeID: "m", allocatable: { count: 1 } })).toEqual([
      'spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ]);
  });

  it("keeps what a capacity is of", () => {
    expect(faults(CSIStorageCapacity, { storageClassName: "c", capacity: "-1" })).toHaveLength(1);
    expect(changeFaults(CSIStorageCapacity, { storageClassName: "c" }, { storageClassName: "d" })).toHaveLength(1);
  });
});

describe("VolumeAttachment", () => {
  const spec = { attacher: "d.example.com", nodeName: "n", source: { persistentVolumeName: "v" } };

  it("is of one volume, and stays as it is", () => {
    expect(faults(VolumeAttachment, { spec })).toEqual([]);
    expect(faults(VolumeAttachment, { spec: { ...spec, source: {} } })).toHaveLength(1);
    expect(changeFaults(VolumeAttachment, { spec }, { spec: { ...spec, nodeName: "m" } })).toEqual([
      'spec: Invalid value: {"Attacher":"d.example.com","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
    ]);
  });

  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  it.each<[object, readonly string[]]>([
    [{ source: {} }, [`spec.source: Required value: ${one}`]],
    [{ source: { persistentVolumeName: "v", inlineVolumeSpec: {} } }, [`spec.source: Forbidden: ${one}`]],
    [
      { source: { inlineVolumeSpec: { capacity: { storage: "1Gi" } } } },
      [
        "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes",
        "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes",
        "spec.source.inlineVolumeSpec.accessModes: Required value",
        "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
      ],
    ],
    [{ attacher: "" }, ["spec.attacher: Required value", "spec.attacher: Required value"]],
  ])("%j", (change, want) => {
    expect(faults(VolumeAttachment, { spec: { ...spec, ...change } } as never)).toEqual(want);
  });

  it("reports how attaching failed, within limits", () => {
    const { object } = create(VolumeAttachment, { metadata, spec });
    const attachError = { message: "x".repeat(1025), errorCode: -1 };
    const { errors } = updateStatus(VolumeAttachment, { metadata, spec, status: { attachError } }, object);
    expect(errors.map(fieldErrorText)).toEqual([
      "status.attachError.message: Too long: may not be more than 262144 bytes",
      "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ]);
  });
});

it("a VolumeAttributesClass says something, and keeps saying it", () => {
  const body = { driverName: "d.example.com", parameters: { iops: "1" } };
  expect(faults(VolumeAttributesClass, { driverName: "d.example.com" })).toEqual([
    "parameters: Required value: must contain at least one key/value pair",
  ]);
  expect(changeFaults(VolumeAttributesClass, body, { ...body, parameters: { iops: "2" } })).toEqual([
    "parameters: Forbidden: updates to parameters are forbidden.",
  ]);
});
