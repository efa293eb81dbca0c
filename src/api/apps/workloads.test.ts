import { describe, expect, it } from "vitest";
import { ReplicationController } from "../core/workload/replication-controller.ts";
import { at as rootAt } from "../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { Kind } from "../machinery/kind.ts";
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "./index.ts";
import { at, faults, object, podTemplate, workload } from "./testing/builders.ts";
import { create, update } from "./testing/run-rules.ts";

const rootPath = rootAt();
const kindOf = { ControllerRevision, DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet } as const;
type Name = keyof typeof kindOf;

/** The kinds are all Kind<…> of their own object: their rules are methods, so each is a Kind. */
function kind(name: Name): Kind {
  return kindOf[name];
}

function stored(name: Name, body: JsonObject): JsonObject {
  const outcome = create(kind(name), body);
  expect(faults(outcome)).toEqual([]);
  return outcome.object ?? {};
}

const unnamedClaim = {
  metadata: {},
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

const replicationController = (spec: JsonObject) => object("v1", "ReplicationController", { spec });

describe("defaults", () => {
  const cases: { name: string; kind: Name; given: JsonObject; want: Record<string, Json | undefined> }[] = [
    {
      name: "a Deployment",
      kind: "Deployment",
      given: workload("Deployment"),
      want: {
        "spec.replicas": 1,
        "spec.strategy": { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
        "spec.revisionHistoryLimit": 10,
        "spec.progressDeadlineSeconds": 600,
        "spec.template.spec.restartPolicy": "Always",
      },
    },
    {
      name: "a Deployment that recreates its pods has no rolling update",
      kind: "Deployment",
      given: workload("Deployment", { replicas: 0, strategy: { type: "Recreate" } }),
      want: { "spec.replicas": 0, "spec.strategy": { type: "Recreate" } },
    },
    { name: "a ReplicaSet", kind: "ReplicaSet", given: workload("ReplicaSet"), want: { "spec.replicas": 1 } },
    {
      name: "a DaemonSet",
      kind: "DaemonSet",
      given: workload("DaemonSet"),
      want: {
        "spec.updateStrategy": { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        "spec.revisionHistoryLimit": 10,
        "metadata.annotations": { "deprecated.daemonset.template.generation": "1" },
      },
    },
    {
      name: "a DaemonSet that waits for deletions",
      kind: "DaemonSet",
      given: workload("DaemonSet", { updateStrategy: { type: "OnDelete" } }),
      want: { "spec.updateStrategy": { type: "OnDelete" } },
    },
    {
      name: "a StatefulSet, whose maxUnavailable belongs to a feature that is off",
      kind: "StatefulSet",
      given: workload("StatefulSet", { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }),
      want: {
        "spec.updateStrategy": { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        "spec.podManagementPolicy": "OrderedReady",
        "spec.persistentVolumeClaimRetentionPolicy": { whenDeleted: "Retain", whenScaled: "Retain" },
      },
    },
    {
      name: "a StatefulSet that names its strategy gets no partition",
      kind: "StatefulSet",
      given: workload("StatefulSet", { updateStrategy: { type: "RollingUpdate" } }),
      want: { "spec.updateStrategy": { type: "RollingUpdate" } },
    },
    {
      name: "a ReplicationController takes its pods' labels for its own and for its selector",
      kind: "ReplicationController",
      given: replicationController({ template: podTemplate() }),
      want: { "spec.selector": { app: "a" }, "metadata.labels": { app: "a" }, "spec.replicas": 1 },
    },
  ];
  it.each(cases)("$name", ({ kind: name, given, want }) => {
    const object = stored(name, given);
    expect(Object.fromEntries(Object.keys(want).map((path) => [path, at(object, path)]))).toEqual(want);
  });
});

describe("what is refused", () => {
  const claim = (spec: JsonObject) => ({ volumeClaimTemplates: [{ metadata: { name: "v" }, spec }] });
  const size = { requests: { storage: "1Gi" } };
  const cases: { name: string; kind: Name; given: JsonObject; want: readonly string[] }[] = [
    {
      name: "a rolling update that can never move",
      kind: "Deployment",
      given: workload("Deployment", { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: "0%" } } }),
      want: ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
    },
    {
      name: "more than all pods unavailable",
      kind: "Deployment",
      given: workload("Deployment", { strategy: { rollingUpdate: { maxUnavailable: "101%" } } }),
      want: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    },
    {
      name: "a rolling update of a Deployment that recreates",
      kind: "Deployment",
      given: workload("Deployment", { strategy: { type: "Recreate", rollingUpdate: {} } }),
      want: ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    },
    {
      name: "a strategy that does not exist, shown as Go holds it",
      kind: "Deployment",
      given: workload("Deployment", { strategy: { type: "Foo", rollingUpdate: { maxSurge: 1 } } }),
      want: [
        'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}: supported values: "Recreate", "RollingUpdate"',
      ],
    },
    {
      name: "a DaemonSet without a selector",
      kind: "DaemonSet",
      given: object("apps/v1", "DaemonSet", { spec: { template: podTemplate() } }),
      want: ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
    },
    {
      name: "a deadline for pods that never end",
      kind: "StatefulSet",
      given: workload("StatefulSet", { template: podTemplate({ activeDeadlineSeconds: 5 }) }),
      want: [
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported",
      ],
    },
    {
      name: "a StatefulSet with a bad label in its template, twice, but no hostname of it",
      kind: "StatefulSet",
      given: workload("StatefulSet", { template: podTemplate({ hostname: "a.b" }, { app: "a", "b c": "1" }) }),
      want: Array(2).fill(
        `spec.template.labels: Invalid value: "b c": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ),
    },
    {
      name: "a StatefulSet with two claims of one name: one volume",
      kind: "StatefulSet",
      given: workload("StatefulSet", { volumeClaimTemplates: Array(2).fill(unnamedClaim) }),
      want: [
        "spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value",
        "spec.template.spec.volumes[0].name: Required value",
      ],
    },
    {
      name: "a StatefulSet whose name is no host name",
      kind: "StatefulSet",
      given: workload("StatefulSet", {}, { name: "a.b" }),
      want: ['metadata.name: Invalid value: "a.b": must not contain dots'],
    },
    {
      name: "a claim without access modes",
      kind: "StatefulSet",
      given: workload("StatefulSet", claim({ resources: size })),
      want: ["spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required"],
    },
    {
      name: "nothing: a mount may name a claim of the set",
      kind: "StatefulSet",
      given: workload("StatefulSet", {
        ...claim({ accessModes: ["ReadWriteOnce"], resources: size }),
        template: podTemplate({
          containers: [{ name: "c", image: "x", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
        }),
      }),
      want: [],
    },
    {
      name: "a ReplicationController without a template",
      kind: "ReplicationController",
      given: replicationController({ selector: { app: "a" } }),
      want: ["spec.template: Required value"],
    },
    {
      name: "a ControllerRevision without data",
      kind: "ControllerRevision",
      given: object("apps/v1", "ControllerRevision", { revision: -1 }),
      want: [
        "data: Required value: data is mandatory",
        "revision: Invalid value: -1: must be greater than or equal to 0",
      ],
    },
  ];
  it.each(cases)("$name", ({ kind: name, given, want }) => {
    expect(faults(create(kind(name), given))).toEqual(want);
  });
});

describe("updates", () => {
  it("of a DaemonSet's template are counted in an annotation that no client can set", () => {
    const old = stored("DaemonSet", workload("DaemonSet"));
    const annotation = "deprecated.daemonset.template.generation";
    const put = (spec: JsonObject) =>
      update(DaemonSet, old, workload("DaemonSet", spec, { annotations: { [annotation]: "7" } })).object;
    expect(at(put({}), "metadata.annotations")).toEqual({ [annotation]: "1" });
    expect(at(put({ template: podTemplate({ hostNetwork: true }) }), "metadata.annotations")).toEqual({
      [annotation]: "2",
    });
    expect(at(put({ minReadySeconds: 1 }), "metadata.generation")).toBe(2);
  });

  it("of a Deployment's annotations raise its generation, of its labels they do not", () => {
    const old = stored("Deployment", workload("Deployment"));
    const generation = (metadata: JsonObject) =>
      at(update(Deployment, old, workload("Deployment", {}, metadata)).object, "metadata.generation");
    expect(generation({ annotations: { a: "b" } })).toBe(2);
    expect(generation({ labels: { a: "b" } })).toBe(1);
  });

  it.each([
    ["ReplicaSet", ReplicaSet],
    ["DaemonSet", DaemonSet],
  ] as const)("of a %s tell each fault once", (name, kind) => {
    const old = stored(name, workload(name));
    const next = workload(name, {
      minReadySeconds: -1,
      selector: { matchLabels: { app: "b" } },
      template: podTemplate({}, { app: "b" }),
    });
    const negative = "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0";
    const fixed = 'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable';
    expect(faults(update(kind, old, next))).toEqual([negative, fixed]);
  });

  it("of a StatefulSet leave alone what was stored under older rules", () => {
    const good = stored("StatefulSet", workload("StatefulSet"));
    const spec = { ...(good.spec as JsonObject), serviceName: "Bad_Name", template: podTemplate({ containers: [] }) };
    const old = { ...good, spec };
    expect(faults(update(StatefulSet, old, { ...old, spec: { ...spec, replicas: 3 } }))).toEqual([]);
    expect(
      faults(
        update(StatefulSet, good, {
          ...good,
          spec: { ...(good.spec as JsonObject), template: podTemplate({ containers: [] }) },
        }),
      ),
    ).toEqual(["spec.template.spec.containers: Required value"]);
  });

  it("never change a ControllerRevision's data", () => {
    const revision = (data: Json) => object("apps/v1", "ControllerRevision", { revision: 1, data });
    const old = stored("ControllerRevision", revision({ a: 1 }));
    expect(faults(update(ControllerRevision, old, revision({ a: 2 })))).toEqual([
      'data: Invalid value: {"a":2}: field is immutable',
    ]);
  });
});

describe("status", () => {
  const cases: { name: string; kind: Name; old?: JsonObject; status: JsonObject; want: readonly string[] }[] = [
    {
      name: "counts above all replicas",
      kind: "Deployment",
      status: { replicas: 1, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 2 },
      want: [
        "status.updatedReplicas: cannot be greater than status.replicas",
        "status.availableReplicas: cannot be greater than status.replicas",
        "status.availableReplicas: cannot be greater than readyReplicas",
      ],
    },
    {
      name: "a collision count that falls",
      kind: "DaemonSet",
      old: { collisionCount: 2 },
      status: { collisionCount: 1 },
      want: ["status.collisionCount: cannot be decremented"],
    },
    {
      name: "a negative count",
      kind: "StatefulSet",
      status: { replicas: 0, currentReplicas: -1 },
      want: ["status.currentReplicas: must be greater than or equal to 0"],
    },
    { name: "nothing", kind: "ReplicaSet", status: { replicas: 2, readyReplicas: 1, availableReplicas: 1 }, want: [] },
  ];
  it.each(cases)("$name", ({ kind: name, old = {}, status, want }) => {
    const rules = kind(name).subresources?.status;
    const root = stored(name, workload(name));
    const asObject = (part: JsonObject) => ({ ...root, status: part }) as never;
    const errors = typeof rules === "object" ? (rules.validate?.(asObject(status), asObject(old), rootPath) ?? []) : [];
    expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
  });
});

it("warns of names that make bad host names", () => {
  const warnings = Deployment.warnings?.(workload("Deployment", {}, { name: "a.b" }) as never, undefined) ?? [];
  expect(warnings).toEqual([
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});
