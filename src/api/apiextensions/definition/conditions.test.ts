import { describe, expect, it } from "vitest";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import {
  apiApproval,
  compareVersions,
  isConditionTrue,
  nonStructuralSchema,
  nonStructuralViolations,
} from "../index.ts";
import { definition, object, preserving, version } from "../testing/definitions.ts";

describe("NonStructuralSchema", () => {
  const loose: JSONSchemaProps = { type: "object", properties: { a: {} } };

  it("is absent for structural schemas", () => {
    expect(nonStructuralSchema(definition(object({})))).toBeUndefined();
    expect(nonStructuralViolations(object({}))).toEqual([]);
  });

  it("tells of every violation, version by version", () => {
    const versions = [version(object({})), version(loose, { name: "v2", storage: false })];
    expect(nonStructuralSchema(definition(preserving, {}, { versions, preserveUnknownFields: true }))).toEqual({
      status: "True",
      reason: "Violations",
      message:
        "[spec.preserveUnknownFields: Invalid value: true: must be false, spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]",
    });
    expect(nonStructuralViolations(loose).map(({ field }) => field)).toEqual([
      "spec.validation.openAPIV3Schema.properties[a].type",
    ]);
  });

  it("does not know of what has no structure at all", () => {
    expect(nonStructuralSchema(definition({ type: "object", $ref: "#/x" }))).toEqual({
      status: "Unknown",
      reason: "StructuralError",
      message: "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
    });
  });
});

describe("KubernetesAPIApprovalPolicyConformant", () => {
  const approval = (group: string, text?: string) => {
    const made = definition(preserving, {}, { group });
    const annotations = text === undefined ? {} : { "api-approved.kubernetes.io": text };
    return apiApproval({ ...made, metadata: { annotations } })?.reason;
  };

  it.each([
    ["example.com", undefined, undefined],
    ["notk8s.io", undefined, undefined],
    ["k8s.io", undefined, "MissingAnnotation"],
    ["x.kubernetes.io", "unapproved, experimental", "UnapprovedAnnotation"],
    ["x.k8s.io", "https://github.com/kubernetes/kubernetes/pull/1", "ApprovedAnnotation"],
    ["x.k8s.io", "soon", "InvalidAnnotation"],
  ])("%s %s", (group, text, want) => {
    expect(approval(group, text)).toBe(want);
  });
});

it("versions are ordered by what they promise, then by age", () => {
  const versions = ["foo10", "v1alpha1", "v2beta1", "v10", "v1", "v1beta2", "foo1", "v2"];
  expect(versions.sort((a, b) => compareVersions(b, a))).toEqual([
    "v10",
    "v2",
    "v1",
    "v2beta1",
    "v1beta2",
    "v1alpha1",
    "foo1",
    "foo10",
  ]);
});

it("a condition is true if it says so", () => {
  const made = {
    ...definition(preserving),
    status: {
      conditions: [
        { type: "A", status: "True" },
        { type: "B", status: "False" },
      ],
    },
  };
  expect(["A", "B", "C"].map((type) => isConditionTrue(made, type))).toEqual([true, false, false]);
});
