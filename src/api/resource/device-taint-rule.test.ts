import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create } from "../apps/testing/run-rules.ts";
import { defaultFeatures } from "../features/index.ts";
import { at } from "../machinery/errors/field-error.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type {
  ResourcePoolStatusRequest as RequestObject,
  DeviceTaintRule as RuleObject,
} from "../types/resource-v1alpha3.ts";
import { DeviceTaintRule } from "./device-taint-rule.ts";
import { ResourcePoolStatusRequest } from "./resource-pool-status-request.ts";

const rule = (spec: JsonObject) => object("resource.k8s.io/v1alpha3", "DeviceTaintRule", { spec });
const taint = { key: "broken", effect: "NoExecute" };

describe("DeviceTaintRule", () => {
  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: { taint }, want: [] },
    { spec: { taint, deviceSelector: { driver: "a.example", pool: "a/b", device: "d" } }, want: [] },
    { spec: { taint: { ...taint, effect: "" } }, want: ["spec.taint.effect: Required value"] },
    {
      spec: { taint: { ...taint, effect: "Never" } },
      want: ['spec.taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"'],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(DeviceTaintRule, rule(spec)))).toEqual(want);
  });

  const user = { name: "jane", groups: [], extra: {} };
  it.each<{ name: string; old: JsonObject; next: JsonObject; want: string }>([
    { name: "without a time", old: taint, next: taint, want: "2026-01-01T00:00:00Z" },
    {
      name: "another effect, the same time",
      old: { ...taint, timeAdded: "2025-01-01T00:00:00Z" },
      next: { ...taint, effect: "None", timeAdded: "2025-01-01T00:00:00Z" },
      want: "2026-01-01T00:00:00Z",
    },
    {
      name: "another effect, another time",
      old: { ...taint, timeAdded: "2025-01-01T00:00:00Z" },
      next: { ...taint, effect: "None", timeAdded: "2025-02-01T00:00:00Z" },
      want: "2025-02-01T00:00:00Z",
    },
    {
      name: "the same effect",
      old: { ...taint, timeAdded: "2025-01-01T00:00:00Z" },
      next: { ...taint, timeAdded: "2025-01-01T00:00:00Z" },
      want: "2025-01-01T00:00:00Z",
    },
  ])("times its taint: $name", ({ old, next, want }) => {
    const draft = structuredClone(rule({ taint: next })) as unknown as Draft<RuleObject>;
    DeviceTaintRule.update?.prepare?.(draft, rule({ taint: old }) as unknown as RuleObject, {
      now: Date.UTC(2026, 0, 1),
      user,
      features: defaultFeatures,
    });
    expect(draft.spec.taint.timeAdded).toBe(want);
  });
});

describe("ResourcePoolStatusRequest", () => {
  const request = (spec: JsonObject, status?: JsonObject) =>
    object("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", { spec, ...(status ? { status } : {}) });

  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: { driver: "a.example" }, want: [] },
    { spec: {}, want: ["spec.driver: Required value"] },
    {
      spec: { driver: "a.example", limit: 0 },
      want: ["spec.limit: Invalid value: 0: must be greater than or equal to 1"],
    },
    {
      spec: { driver: "a.example", limit: 1001 },
      want: ["spec.limit: Invalid value: 1001: must be less than or equal to 1000"],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(ResourcePoolStatusRequest, request(spec)))).toEqual(want);
  });

  it("is answered once", () => {
    const rules = ResourcePoolStatusRequest.subresources?.status;
    const withStatus = (status?: JsonObject) => request({ driver: "a.example" }, status) as unknown as RequestObject;
    const check = (next: JsonObject, old?: JsonObject) =>
      ((typeof rules === "object" && rules.validate?.(withStatus(next), withStatus(old), at())) || []).map(
        ({ field, detail }) => `${field}: ${detail}`,
      );
    expect(check({ poolCount: 0 })).toEqual([]);
    expect(check({ poolCount: 0 }, { poolCount: 0 })).toEqual([]);
    expect(check({ poolCount: 1 }, { poolCount: 0 })).toEqual(["status: field is immutable"]);
    expect(check({})).toEqual(["status.poolCount: "]);
  });
});
