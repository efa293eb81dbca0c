import { describe, expect, it } from "vitest";
import { kinds, optionalKinds, typeSchema } from "../facts/index.ts";
import type { Schema } from "../machinery/schema/schema.ts";
import { disabledFields } from "./disabled-fields.ts";
import { gatedFields, type PathStep } from "./gated-fields.ts";
import { gates } from "./gates.ts";

const everyKind = [...kinds(), ...optionalKinds()];
const only = (...off: string[]) => ({ enabled: (gate: string) => !off.includes(gate) });

describe("the table of gated fields", () => {
  it("has gates that exist, of kinds that exist", () => {
    const known = everyKind.map(({ group, version, kind }) => `${group === "" ? "" : `${group}/`}${version}/${kind}`);
    expect([...gatedFields.keys()].filter((key) => !known.includes(key))).toEqual([]);
    const named = [...gatedFields.values()].flat().map(({ gate }) => gate);
    expect(named.filter((gate) => !gates.has(gate))).toEqual([]);
  });

  const rows = [...gatedFields].flatMap(([key, fields]) => fields.map(({ gate, path }) => ({ key, gate, path })));
  it("has paths that exist in the schema", () => {
    const missing = rows.filter(({ key, path }) => !exists(schemaOf(key), path));
    expect(missing.map(({ key, gate, path }) => `${key} ${gate} ${path.map(({ name }) => name).join(".")}`)).toEqual(
      [],
    );
  });

  it("reaches the spec of pods in every kind that has one", () => {
    const withPods = kinds().filter(({ typeName }) => mentions(typeSchema(typeName), "io.k8s.api.core.v1.PodSpec"));
    const covered = rows.filter(({ gate }) => gate === "ContainerStopSignals").map(({ key }) => key);
    const keys = withPods.map(({ group, version, kind }) => `${group === "" ? "" : `${group}/`}${version}/${kind}`);
    expect(keys.filter((key) => !covered.includes(key))).toEqual([]);
  });
});

describe("fields of features that are off", () => {
  const container = (lifecycle?: object) => ({ name: "c", ...(lifecycle && { lifecycle }) });
  const pod = (...lifecycles: (object | undefined)[]) => ({ spec: { containers: lifecycles.map(container) } });
  const preStop = { exec: {} };
  it.each<{ name: string; key: string; off: string[]; given: object; old?: object; want: object }>([
    {
      name: "go, with what had nothing else",
      key: "v1/Pod",
      off: ["ContainerStopSignals"],
      given: pod({ stopSignal: "SIGTERM" }, { stopSignal: "SIGTERM", preStop }, {}),
      want: pod(undefined, { preStop }, {}),
    },
    {
      name: "stay if the feature is on",
      key: "v1/Pod",
      off: ["GenericWorkload"],
      given: pod({ stopSignal: "SIGTERM" }),
      want: pod({ stopSignal: "SIGTERM" }),
    },
    {
      name: "stay everywhere if the old object uses them anywhere",
      key: "v1/Pod",
      off: ["ContainerStopSignals"],
      given: pod({ stopSignal: "SIGTERM" }, { stopSignal: "SIGINT" }),
      old: pod({ stopSignal: "SIGQUIT" }),
      want: pod({ stopSignal: "SIGTERM" }, { stopSignal: "SIGINT" }),
    },
    {
      name: "go gate by gate",
      key: "coordination.k8s.io/v1/Lease",
      off: ["CoordinatedLeaderElection"],
      given: { spec: { strategy: "a", preferredHolder: "b", holderIdentity: "c" } },
      old: { spec: {} },
      want: { spec: { holderIdentity: "c" } },
    },
    {
      name: "go from the values of maps",
      key: "resource.k8s.io/v1/ResourceSlice",
      off: ["DRAListTypeAttributes"],
      given: { spec: { devices: [{ attributes: { a: { ints: [1], int: 1 }, b: { strings: [] } } }] } },
      want: { spec: { devices: [{ attributes: { a: { int: 1 }, b: {} } }] } },
    },
    {
      name: "get their default where the table says so",
      key: "v1/Pod",
      off: ["ProcMountType"],
      given: { spec: { containers: [{ securityContext: { procMount: "Unmasked" } }] } },
      old: { spec: { containers: [{ securityContext: { procMount: "Default" } }] } },
      want: { spec: { containers: [{ securityContext: { procMount: "Default" } }] } },
    },
    {
      name: "go from templates",
      key: "batch/v1/CronJob",
      off: ["HostnameOverride"],
      given: { spec: { jobTemplate: { spec: { template: { spec: { hostnameOverride: "x", hostname: "y" } } } } } },
      want: { spec: { jobTemplate: { spec: { template: { spec: { hostname: "y" } } } } } },
    },
  ])("$name", ({ key, off, given, old, want }) => {
    const draft = structuredClone(given);
    disabledFields(only(...off), key)?.(draft, old);
    expect(draft).toEqual(want);
  });

  it("leaves alone what is shared with the stored object", () => {
    const spec = Object.freeze({ schedulingGroup: Object.freeze({}) });
    const draft = { spec, status: { nodeAllocatableResourceClaimStatuses: [] } };
    disabledFields(only("GenericWorkload", "DRANodeAllocatableResources"), "v1/Pod")?.(draft, { spec, status: {} });
    expect(draft).toEqual({ spec, status: {} });
  });

  it("cost nothing for kinds that have none", () => {
    expect(disabledFields(only(...gates.keys()), "v1/ConfigMap")).toBeUndefined();
    expect(disabledFields(only(), "v1/Pod")).toBeUndefined();
  });
});

function schemaOf(key: string): Schema {
  const found = everyKind.find(
    ({ group, version, kind }) => key === `${group === "" ? "" : `${group}/`}${version}/${kind}`,
  );
  return typeSchema(found?.typeName ?? "");
}

function exists(schema: Schema, [step, ...rest]: readonly PathStep[]): boolean {
  if (step === undefined) return true;
  if (step.name === "[]") return schema.type === "list" && exists(schema.items, rest);
  if (step.name === "{}") return schema.type === "map" && exists(schema.values, rest);
  const field = schema.type === "object" ? schema.fields.get(step.name) : undefined;
  return field !== undefined && exists(field.schema, rest);
}

function mentions(schema: Schema, goType: string, seen = new Set<Schema>()): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (schema.type === "list") return mentions(schema.items, goType, seen);
  if (schema.type === "map") return mentions(schema.values, goType, seen);
  if (schema.type !== "object") return false;
  return schema.goType === goType || [...schema.fields.values()].some((field) => mentions(field.schema, goType, seen));
}
