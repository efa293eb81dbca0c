import { describe, expect, it } from "vitest";
import { fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { JsonObject } from "../../machinery/json/json.ts";
import { changeFaults, create, faults, update } from "../../testing/pure-server.ts";
import { PersistentVolume } from "./persistent-volume.ts";
import { PersistentVolumeClaim } from "./persistent-volume-claim.ts";

const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "c" };
const hostPath = { path: "/data" };
const tooMany = "Forbidden: may not specify more than 1 volume type";

describe("the source of a volume", () => {
  it.each<{ name: string; source: JsonObject; want: readonly string[] }>([
    { name: "is needed", source: {}, want: ["spec: Required value: must specify a volume type"] },
    {
      name: "is one; how the refusal names cephfs differs from the field",
      source: { hostPath, cephfs: { monitors: [] } },
      want: [`spec.cephFS: ${tooMany}`],
    },
    {
      name: "a FlexVolume is validated, whatever else is set",
      source: { hostPath, flexVolume: { driver: "" } },
      want: ["spec.flexVolume.driver: Required value"],
    },
    {
      name: "a local volume needs its node, unless it is surplus",
      source: { local: { path: "/p" } },
      want: ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    },
    { name: "a surplus local volume", source: { hostPath, local: { path: "/p" } }, want: [`spec.local: ${tooMany}`] },
    {
      name: "a partition",
      source: { gcePersistentDisk: { pdName: "d", partition: 256 } },
      want: ["spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive"],
    },
    { name: "the whole disk", source: { gcePersistentDisk: { pdName: "d", partition: 0 } }, want: [] },
    {
      name: "secrets have a namespace",
      source: { cinder: { volumeID: "v", secretRef: { name: "s" } } },
      want: ["spec.cinder.secretRef.namespace: Required value"],
    },
    {
      name: "csi",
      source: { csi: { driver: "", volumeHandle: "", nodeExpandSecretRef: { name: "s" } } },
      want: [
        "spec.csi.driver: Required value",
        "spec.csi.volumeHandle: Required value",
        "spec.csi.nodeExpandSecretRef.namespace: Required value",
      ],
    },
    {
      name: "iscsi",
      source: { iscsi: { targetPortal: "p", iqn: "x", lun: 0 } },
      want: ['spec.iscsi.iqn: Invalid value: "x": must be valid format'],
    },
    {
      name: "glusterfs",
      source: { glusterfs: { endpoints: "e", path: "p", endpointsNamespace: "" } },
      want: [
        'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name',
      ],
    },
  ])("$name", ({ source, want }) => {
    expect(faults(PersistentVolume, { spec: { ...volume, ...source } })).toEqual(want);
  });
});

describe("the update of a volume", () => {
  const old = { spec: { ...volume, hostPath } };

  it("shows how its source differs", () => {
    expect(changeFaults(PersistentVolume, old, { spec: { ...volume, hostPath: { path: "/y" } } })).toEqual([
      [
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
        "@@ -2,7 +2,7 @@",
        '  "GCEPersistentDisk": null,',
        '  "AWSElasticBlockStore": null,',
        '  "HostPath": {',
        '-  "Path": "/data",',
        '+  "Path": "/y",',
        '   "Type": ""',
        "  },",
        '  "Glusterfs": null,',
        "",
      ].join("\n"),
    ]);
  });

  it("reports every other fault twice", () => {
    const wrong = "spec.accessModes: Required value";
    expect(changeFaults(PersistentVolume, old, { spec: { ...old.spec, accessModes: [] } })).toEqual([wrong, wrong]);
  });

  it("may add the secret for expansion", () => {
    const csi = { driver: "d.example.com", volumeHandle: "h" };
    const next = { ...csi, controllerExpandSecretRef: { name: "s", namespace: "n" } };
    expect(changeFaults(PersistentVolume, { spec: { ...volume, csi } }, { spec: { ...volume, csi: next } })).toEqual(
      [],
    );
  });
});

const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

describe("a claim", () => {
  it("has a data source of a valid group", () => {
    const dataSourceRef = { apiGroup: "Bad Group!", kind: "K", name: "n" };
    expect(faults(PersistentVolumeClaim, { spec: { ...claim, dataSourceRef } })).toEqual([
      expect.stringContaining('spec.dataSource.apiGroup: Invalid value: "Bad Group!": '),
      expect.stringContaining('spec.dataSourceRef.apiGroup: Invalid value: "Bad Group!": '),
    ]);
    const elsewhere = { ...dataSourceRef, namespace: "n" };
    expect(faults(PersistentVolumeClaim, { spec: { ...claim, dataSourceRef: elsewhere } })).toEqual([]);
  });

  const bound = { spec: { ...claim, volumeName: "v" }, status: { phase: "Bound", capacity: { storage: "1Gi" } } };
  it.each<{ name: string; old: { spec: JsonObject; status?: JsonObject }; spec: JsonObject; want: readonly unknown[] }>(
    [
      { name: "may be given its volume", old: { spec: claim }, spec: { ...claim, volumeName: "v" }, want: [] },
      { name: "may be given its class", old: { spec: claim }, spec: { ...claim, storageClassName: "c" }, want: [] },
      {
        name: "may write its size in another way",
        old: { spec: claim },
        spec: { ...claim, resources: { requests: { storage: "1073741824" } } },
        want: [],
      },
      {
        name: "keeps its size until it is bound, and shows the difference",
        old: { spec: claim },
        spec: { ...claim, resources: { requests: { storage: "2Gi" } } },
        want: [expect.stringContaining('-   "storage": "1Gi"\n+   "storage": "2Gi"\n')],
      },
      {
        name: "may grow and change its attributes once it is bound",
        old: bound,
        spec: { ...bound.spec, resources: { requests: { storage: "2Gi" } }, volumeAttributesClassName: "fast" },
        want: [],
      },
      {
        name: "keeps its attributes until it is bound",
        old: { spec: claim },
        spec: { ...claim, volumeAttributesClassName: "fast" },
        want: [expect.stringContaining('+ "VolumeAttributesClassName": "fast"')],
      },
      {
        name: "shows amounts that were sent empty",
        old: { spec: claim },
        spec: { ...claim, resources: { requests: {} } },
        want: [
          "spec.resources[storage]: Required value",
          expect.stringContaining('+  "Requests": {}\n'),
          "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
        ],
      },
      {
        name: "shrinks to no less than it has",
        old: { ...bound, spec: { ...bound.spec, resources: { requests: { storage: "2Gi" } } } },
        spec: bound.spec,
        want: ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
      },
    ],
  )("$name", ({ old, spec, want }) => {
    const metadata = { name: "one" };
    const made = create(PersistentVolumeClaim, { metadata, ...old }).object;
    const stored = old.status === undefined ? made : { ...made, status: old.status };
    expect(update(PersistentVolumeClaim, { metadata, spec }, stored).errors.map(fieldErrorText)).toEqual(want);
  });
});
