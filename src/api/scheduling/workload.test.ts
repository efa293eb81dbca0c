import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { PodGroup, Workload } from "./index.ts";

const gang = { gang: { minCount: 2 } };
const group = (spec: JsonObject) =>
  object("scheduling.k8s.io/v1alpha2", "PodGroup", { spec: { schedulingPolicy: gang, ...spec } });
const workload = (spec: JsonObject) => object("scheduling.k8s.io/v1alpha2", "Workload", { spec });
const template = (name: string) => ({ name, schedulingPolicy: { basic: {} } });

describe("PodGroup", () => {
  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: {}, want: [] },
    { spec: { schedulingPolicy: { basic: {} } }, want: [] },
    {
      spec: { schedulingPolicy: {} },
      want: ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'],
    },
    {
      spec: { schedulingPolicy: { ...gang, basic: {} } },
      want: [
        'spec.schedulingPolicy: Invalid value: "{`basic`, `gang`}": exactly one of `basic`, `gang` is required, but multiple fields are set',
      ],
    },
    { spec: { schedulingPolicy: { gang: {} } }, want: ["spec.schedulingPolicy.gang.minCount: Required value"] },
    {
      spec: { schedulingPolicy: { gang: { minCount: -1 } } },
      want: ["spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than zero"],
    },
    {
      spec: { podGroupTemplateRef: { workload: { workloadName: "w", podGroupTemplateName: "" } } },
      want: ["spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value"],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(PodGroup, group(spec)))).toEqual(want);
  });

  it("has no fields of features that are off, and keeps its policy", () => {
    const given = {
      priority: 3,
      schedulingConstraints: { topology: [{ key: "a/b" }] },
      resourceClaims: [{ name: "a" }],
    };
    const stored = create(PodGroup, group(given)).object ?? {};
    expect(stored.spec).toEqual({ podGroupTemplateRef: null, schedulingPolicy: gang });
    expect(faults(update(PodGroup, stored, group({ schedulingPolicy: { gang: { minCount: 3 } } })))).toEqual([
      'spec.schedulingPolicy: Invalid value: {"Basic":null,"Gang":{"MinCount":3}}: field is immutable',
    ]);
  });
});

describe("Workload", () => {
  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: { podGroupTemplates: [template("a"), template("b")] }, want: [] },
    { spec: {}, want: ["spec.podGroupTemplates: Required value: must have at least one item"] },
    {
      spec: { podGroupTemplates: Array.from({ length: 9 }, (_, i) => template(`t${i}`)) },
      want: ["spec.podGroupTemplates: Too many: 9: must have at most 8 items"],
    },
    {
      spec: { podGroupTemplates: [template("a"), template("a")] },
      want: ['spec.podGroupTemplates[1]: Duplicate value: "a"'],
    },
    {
      spec: { podGroupTemplates: [template("a")], controllerRef: { kind: "", name: "n" } },
      want: ["spec.controllerRef.kind: Required value"],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(Workload, workload(spec)))).toEqual(want);
  });

  it("may get a controller later, and keeps it", () => {
    const spec = { podGroupTemplates: [template("a")] };
    const stored = create(Workload, workload(spec)).object ?? {};
    const owned = update(Workload, stored, workload({ ...spec, controllerRef: { kind: "Job", name: "j" } }));
    expect(faults(owned)).toEqual([]);
    expect(faults(update(Workload, owned.object ?? {}, workload(spec)))).toEqual([
      "spec.controllerRef: Invalid value: null: field is immutable",
    ]);
  });
});
