import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { JsonObject } from "../json/json.ts";
import type { ObjectSchema } from "../schema/schema.ts";
import {
  excludeFields,
  type FieldFilter,
  type FieldSet,
  fieldPath,
  fieldSet,
  recursiveDifference,
  updateManagedFields,
} from "./index.ts";
import { anyValue } from "./testing/any-value.ts";
import { anySpec, sample, sampleSchema } from "./testing/sample.ts";

const STATUS = fieldSet(fieldPath("status"));
const PARTS = fieldSet(fieldPath("spec"), fieldPath("metadata.labels"), fieldPath("metadata.annotations"));
const THROUGH_A_MAP = fieldSet(fieldPath("metadata.labels.a"));

function owned(schema: ObjectSchema, updated: JsonObject, resetFields?: FieldFilter): string {
  const context = { apiVersion: "v1", schema, manager: "tester", now: "2024-01-01T00:00:00Z", live: undefined };
  return JSON.stringify(
    updateManagedFields({ ...context, updated, ...(resetFields && { resetFields }) }),
    undefined,
    1,
  );
}

/** A filter that does not say what it leaves out: the sets themselves are compared. */
function bySets(paths: FieldSet): FieldFilter {
  return (set) => recursiveDifference(set, paths);
}

describe("a create owns what it adds to an empty object", () => {
  const types = [
    "core.v1.ConfigMap",
    "core.v1.Pod",
    "core.v1.Service",
    "core.v1.Node",
    "core.v1.Event",
    "apps.v1.Deployment",
    "rbac.v1.ClusterRole",
    "certificates.v1.CertificateSigningRequest",
    "networking.v1.NetworkPolicy",
  ];
  const schemas = types.map((name) => ({ name, schema: typeSchema(`io.k8s.api.${name}`) }));
  const crd = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition";
  it.each([...schemas, { name: "CustomResourceDefinition", schema: typeSchema(crd) }])("$name", ({ schema }) => {
    fc.assert(
      fc.property(anyValue(schema, 6), fc.constantFrom(STATUS, PARTS, THROUGH_A_MAP), (value, paths) => {
        const object = value as JsonObject;
        expect(owned(schema, object, excludeFields(paths))).toBe(owned(schema, object, bySets(paths)));
        expect(owned(schema, object)).toBe(owned(schema, object, (set) => set));
      }),
      { numRuns: 300 },
    );
  });

  it("of a kind without a Go type", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const object = { ...sample(spec, { labels: { a: "b" } }), undeclared: { a: [1] } };
        expect(owned(sampleSchema, object)).toBe(owned(sampleSchema, object, (set) => set));
      }),
    );
  });

  it("of a Pod", () => {
    const pod = {
      metadata: { name: "web", labels: { app: "web" }, creationTimestamp: null },
      spec: { containers: [{ name: "web", ports: [{ containerPort: 80, protocol: "TCP" }], resources: {} }] },
      status: { phase: "Running" },
    };
    const [entry] = JSON.parse(owned(typeSchema("io.k8s.api.core.v1.Pod"), pod, excludeFields(STATUS)));
    expect(entry.fieldsV1).toEqual({
      "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
      "f:spec": {
        "f:containers": {
          'k:{"name":"web"}': {
            ".": {},
            "f:name": {},
            "f:ports": {
              ".": {},
              'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {}, "f:protocol": {} },
            },
            "f:resources": {},
          },
        },
      },
    });
  });
});
