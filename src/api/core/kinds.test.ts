import { describe, expect, it } from "vitest";
import { defaultFeatures } from "../features/index.ts";
import { parseTime } from "../machinery/scalars/time.ts";
import { changeFaults, create, faults, updatePart, updateStatus } from "../testing/pure-server.ts";
import type {
  PersistentVolumeClaim as ClaimObject,
  Event as EventObject,
  Node as NodeObject,
  Secret as SecretObject,
} from "../types/core-v1.ts";
import { Binding } from "./binding.ts";
import { ConfigMap } from "./config-map.ts";
import { Event } from "./event.ts";
import { Namespace } from "./namespace.ts";
import { Node } from "./node/node.ts";
import { LimitRange } from "./resources/limit-range.ts";
import { ResourceQuota } from "./resources/resource-quota.ts";
import { Secret } from "./secret.ts";
import { ServiceAccount } from "./service-account.ts";
import { PersistentVolume } from "./volumes/persistent-volume.ts";
import { PersistentVolumeClaim } from "./volumes/persistent-volume-claim.ts";

const metadata = { name: "one" };
const sealed = "Forbidden: field is immutable when `immutable` is set";

describe("ConfigMap", () => {
  it("holds no more than a mebibyte", () => {
    expect(faults(ConfigMap, { data: { a: "x".repeat(1024 * 1024) } })).toEqual([]);
    expect(faults(ConfigMap, { data: { a: "x".repeat(1024 * 1024), b: "y" } })).toEqual([
      ": Too long: may not be more than 1048576 bytes",
    ]);
    expect(faults(ConfigMap, { binaryData: { a: btoa("x".repeat(1024 * 1024 + 1)) } })).toHaveLength(1);
  });

  it("once sealed stays as it is", () => {
    const before = { immutable: true, data: { a: "1" } };
    expect(changeFaults(ConfigMap, before, before)).toEqual([]);
    expect(changeFaults(ConfigMap, before, { data: { a: "2" } })).toEqual([`immutable: ${sealed}`, `data: ${sealed}`]);
    expect(changeFaults(ConfigMap, { data: { a: "1" } }, { immutable: true })).toEqual([]);
  });
});

describe("Secret", () => {
  it("merges stringData into data, and is Opaque", () => {
    const { object } = create(Secret, { metadata, data: { a: "b2xk", c: "Yw==" }, stringData: { a: "new", b: "é" } });
    const { data, stringData, type } = object as SecretObject;
    expect({ data, stringData, type }).toEqual({
      data: { a: "bmV3", b: "w6k=", c: "Yw==" },
      stringData: undefined,
      type: "Opaque",
    });
    expect(Object.keys(data ?? {})).toEqual(["a", "b", "c"]);
  });

  it.each<[string, Record<string, string>, readonly string[]]>([
    ["kubernetes.io/tls", {}, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]],
    ["kubernetes.io/tls", { "tls.crt": "", "tls.key": "" }, []],
    ["kubernetes.io/basic-auth", {}, ["data[username]: Required value", "data[password]: Required value"]],
    ["kubernetes.io/basic-auth", { username: "" }, []],
    ["kubernetes.io/ssh-auth", { "ssh-privatekey": "" }, ["data[ssh-privatekey]: Required value"]],
    ["kubernetes.io/dockercfg", {}, ["data[.dockercfg]: Required value"]],
    ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": btoa("{}") }, []],
    [
      "kubernetes.io/dockerconfigjson",
      { ".dockerconfigjson": btoa("[]") },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      "kubernetes.io/service-account-token",
      {},
      ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ],
    ["example.com/any", {}, []],
  ])("of type %s with %j", (type, data, want) => expect(faults(Secret, { type, data })).toEqual(want));

  it("keeps its type", () => {
    expect(changeFaults(Secret, { type: "a" }, { type: "b" })).toEqual([
      'type: Invalid value: "b": field is immutable',
    ]);
  });
});

describe("Namespace", () => {
  it("starts active, labelled with its name, held by its finalizer", () => {
    const { object } = create(Namespace, { metadata: { generateName: "team-" }, status: { phase: "Terminating" } });
    expect(object).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "team-12345" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  it("gives up finalizers only through finalize", () => {
    const { object } = create(Namespace, { metadata });
    const changed = { metadata, spec: { finalizers: ["example.com/mine"] } };
    expect(updatePart(Namespace, "finalize", changed, object).object).toMatchObject({
      spec: changed.spec,
      status: { phase: "Active" },
    });
    expect(updatePart(Namespace, "finalize", { metadata, spec: { finalizers: ["mine"] } }, object).errors).toHaveLength(
      1,
    );
  });

  it("terminates only while it is deleted", () => {
    const { object } = create(Namespace, { metadata });
    const [error] = updateStatus(Namespace, { metadata, status: { phase: "Terminating" } }, object).errors;
    expect(error).toMatchObject({
      field: "status.Phase",
      detail: "may only be 'Active' if `deletionTimestamp` is empty",
    });
  });
});

describe("Node", () => {
  it("keeps its status, and allocates all it has unless it says otherwise", () => {
    const { object } = create(Node, {
      metadata,
      spec: { podCIDRs: ["10.0.0.0/24"] },
      status: { capacity: { cpu: "4" } },
    });
    const { spec, status } = object as NodeObject;
    expect(spec).toMatchObject({ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] });
    expect(status?.allocatable).toEqual({ cpu: "4" });
  });

  it.each([
    [{ spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } }, ["spec.podCIDRs"]],
    [{ spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }, []],
    [{ status: { capacity: { pods: "1500m" } } }, ["status.capacity.pods"]],
    [{ status: { capacity: { cpu: "-1" } } }, ["status.capacity.cpu", "status.allocatable.cpu"]],
    [{ spec: { taints: [{ key: "a b", effect: "" }] } }, ["metadata.taints[0].key", "metadata.taints[0].effect"]],
  ])("%j is wrong in %j", (body, want) => {
    const fields = faults(Node, body).map((text) => text.slice(0, text.indexOf(": ")));
    expect(want.every((field) => fields.includes(field)) && (want.length > 0 || fields.length === 0)).toBe(true);
  });

  it("reports faults of its taints twice on an update", () => {
    const wrong = "metadata.taints[0].effect: Required value";
    expect(changeFaults(Node, {}, { spec: { taints: [{ key: "k", effect: "" }] } })).toEqual([wrong, wrong]);
  });

  it("keeps its ranges and its provider's name", () => {
    const before = { spec: { podCIDR: "10.0.0.0/24", providerID: "a" } };
    expect(changeFaults(Node, before, { spec: { podCIDR: "10.0.1.0/24", providerID: "b" } })).toHaveLength(2);
    expect(changeFaults(Node, {}, before)).toEqual([]);
  });
});

describe("PersistentVolume", () => {
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };

  it("is retained, a file system, pending since now", () => {
    const { object } = create(PersistentVolume, { metadata, spec });
    expect(object).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", hostPath: { type: "" } },
      status: { phase: "Pending", lastPhaseTransitionTime: "1970-01-01T00:00:00Z" },
    });
  });

  it("notes when its phase changes", () => {
    const { object } = create(PersistentVolume, { metadata, spec });
    const later = { features: defaultFeatures, now: 60_000, user: { name: "", groups: [], extra: {} } };
    const draft = structuredClone(object) as Parameters<NonNullable<typeof PersistentVolume.defaults>>[0];
    draft.status = { ...draft.status, phase: "Available" };
    const rules = PersistentVolume.subresources?.status;
    if (rules === true || rules === undefined) throw new Error("a PersistentVolume has rules for its status");
    rules.prepare?.(draft, object, later);
    expect(parseTime(draft.status.lastPhaseTransitionTime ?? "").seconds).toBe(60);
  });

  it("keeps its source", () => {
    expect(changeFaults(PersistentVolume, { spec }, { spec: { ...spec, hostPath: { path: "/y" } } })).toHaveLength(1);
  });
});

describe("PersistentVolumeClaim", () => {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const sourceOf = (more: object) => {
    const { dataSource, dataSourceRef } =
      (create(PersistentVolumeClaim, { metadata, spec: { ...spec, ...more } }).object as ClaimObject).spec ?? {};
    return { dataSource, dataSourceRef };
  };

  it("says its source in both fields, if it is a claim or a snapshot", () => {
    const claim = { apiGroup: null, kind: "PersistentVolumeClaim", name: "a" };
    expect(sourceOf({ dataSource: claim })).toEqual({ dataSource: claim, dataSourceRef: claim });
    expect(sourceOf({ dataSourceRef: claim })).toEqual({ dataSource: claim, dataSourceRef: claim });
    expect(sourceOf({ dataSourceRef: { ...claim, namespace: "b" } }).dataSource).toBeUndefined();
    expect(sourceOf({ dataSource: { kind: "Pod", name: "a" } })).toEqual({
      dataSource: undefined,
      dataSourceRef: undefined,
    });
  });

  it("is bound once, and does not change before that", () => {
    expect(changeFaults(PersistentVolumeClaim, { spec }, { spec: { ...spec, volumeName: "v" } })).toEqual([]);
    expect(
      changeFaults(
        PersistentVolumeClaim,
        { spec: { ...spec, volumeName: "v" } },
        { spec: { ...spec, volumeName: "w" } },
      ),
    ).toHaveLength(1);
    expect(
      changeFaults(PersistentVolumeClaim, { spec }, { spec: { ...spec, accessModes: ["ReadOnlyMany"] } }),
    ).toHaveLength(1);
  });
});

describe("ServiceAccount", () => {
  it("refers to its secrets by name only", () => {
    const secrets = [{ name: "a", namespace: "b", uid: "c" }, { kind: "Secret" }];
    expect(create(ServiceAccount, { metadata, secrets }).object).toMatchObject({ secrets: [{ name: "a" }, {}] });
  });
});

describe("LimitRange", () => {
  it("has the name of its uid, if it has none", () => {
    expect(create(LimitRange, { metadata: { uid: "u" } }).object.metadata.name).toBe("u");
  });

  it("fills limits from the maximum and requests from limits or the minimum", () => {
    const limits = [{ type: "Container", max: { cpu: "2" }, min: { memory: "1Gi" } }];
    expect(create(LimitRange, { metadata, spec: { limits } }).object).toMatchObject({
      spec: { limits: [{ default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1Gi" } }] },
    });
  });
});

describe("ResourceQuota", () => {
  it.each([
    [{ hard: { pods: "1", "requests.cpu": "2", "count/jobs.batch": "3" } }, 0],
    [{ hard: { nonsense: "1" } }, 2],
    [{ hard: { pods: "1.5" } }, 1],
    [{ hard: { secrets: "1" }, scopes: ["BestEffort"] }, 1],
    [{ scopes: ["BestEffort", "NotBestEffort"] }, 1],
    [{ scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } }, 1],
  ])("%j has %d faults", (spec, count) => expect(faults(ResourceQuota, { spec })).toHaveLength(count));

  it("shows a selector that does not suit its resources", () => {
    const matchExpressions = [{ scopeName: "BestEffort", operator: "Exists" }];
    expect(faults(ResourceQuota, { spec: { hard: { secrets: "1" }, scopeSelector: { matchExpressions } } })).toEqual([
      'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"BestEffort","Operator":"Exists","Values":null}]}: unsupported scope applied to resource',
    ]);
  });

  it("keeps its scopes", () => {
    expect(changeFaults(ResourceQuota, { spec: { scopes: ["Terminating"] } }, { spec: {} })).toEqual([
      "spec.scopes: Invalid value: null: field is immutable",
    ]);
  });
});

describe("Event", () => {
  const involvedObject = { namespace: "ns", kind: "Pod", name: "a" };

  it("of the newer kind names its reporter", () => {
    expect(faults(Event, { involvedObject, eventTime: "2020-01-01T00:00:00.000000Z" })).toEqual([
      "reportingComponent: Required value",
      expect.stringMatching(/^reportingComponent: Invalid value: "": name part must be non-empty/),
      expect.stringMatching(/^reportingComponent: Invalid value: "": name part must consist/),
      "reportingInstance: Required value",
      "action: Required value",
      "reason: Required value",
    ]);
  });

  it("can be selected by its reporter", () => {
    const read = (event: EventObject, name: string) => Event.selectableFields?.valueOf(event, name);
    expect(read({ metadata, involvedObject, reportingComponent: "b" }, "source")).toBe("b");
    expect(read({ metadata, involvedObject, source: { component: "a" }, reportingComponent: "b" }, "source")).toBe("a");
    expect(read({ metadata, involvedObject }, "involvedObject.name")).toBe("a");
  });
});

describe("Binding", () => {
  it("binds to nodes only", () => {
    expect(faults(Binding, { target: { kind: "Pod" } })).toEqual([
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      "target.name: Required value",
    ]);
  });
});
