import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import { recordings } from "../../testing/recordings.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { parseJson, strictFieldErrors } from "../json/json-text.ts";
import { decode } from "./decode.ts";
import type { ObjectSchema } from "./schema.ts";

const core = (kind: string) => typeSchema(`io.k8s.api.core.v1.${kind}`);
const deployment = typeSchema("io.k8s.api.apps.v1.Deployment");

describe("typed decoding", () => {
  it.each<[string, ObjectSchema, Json, Json]>([
    [
      "what Go always writes is there",
      core("Pod"),
      { spec: { containers: [{ name: "c" }] } },
      { metadata: {}, spec: { containers: [{ name: "c", resources: {} }] }, status: {} },
    ],
    [
      "required lists that were never set are null",
      core("Pod"),
      {},
      { metadata: {}, spec: { containers: null }, status: {} },
    ],
    [
      "nulls and empty values are dropped",
      core("ConfigMap"),
      { metadata: { labels: {}, name: "" }, data: null },
      { metadata: {} },
    ],
    [
      "pointers to zero stay",
      core("ConfigMap"),
      { metadata: {}, immutable: false },
      { metadata: {}, immutable: false },
    ],
    [
      "null in a map is a zero value",
      core("ConfigMap"),
      { metadata: {}, data: { a: null, b: "1" } },
      { metadata: {}, data: { a: "", b: "1" } },
    ],
    [
      "quantities are canonical",
      core("ResourceQuota"),
      { metadata: {}, spec: { hard: { cpu: "0.5", memory: 1024, pods: " 2 " } } },
      { metadata: {}, spec: { hard: { cpu: "500m", memory: "1024", pods: "2" } }, status: {} },
    ],
    ["times are UTC to the second", core("ObjectReference"), {}, {}],
    [
      "times are UTC to the second",
      core("Event"),
      { metadata: { creationTimestamp: "2024-01-01T01:00:00.5+01:00" }, involvedObject: {}, firstTimestamp: null },
      {
        metadata: { creationTimestamp: "2024-01-01T00:00:00Z" },
        involvedObject: {},
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        reportingComponent: "",
        reportingInstance: "",
      },
    ],
    [
      "ints and strings stay what they are",
      core("ServicePort"),
      { port: 80, targetPort: "http" },
      { port: 80, targetPort: "http" },
    ],
    ["a structure without a value is written as zero", core("ServicePort"), { port: 80 }, { port: 80, targetPort: 0 }],
    [
      "bytes are written as Go would",
      core("Secret"),
      { metadata: {}, data: { a: "YQ==", b: "YW\nI=", c: "" } },
      { metadata: {}, data: { a: "YQ==", b: "YWI=", c: "" } },
    ],
    [
      "one of two forms",
      typeSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"),
      { items: { type: "string", nosuch: 1 }, additionalProperties: false, default: { any: [null] } },
      { default: { any: [null] }, items: { type: "string" }, additionalProperties: false },
    ],
  ])("%s", (_, schema, given, want) => {
    const before = structuredClone(given);
    // As JSON: what was sent empty is noted beside it.
    expect(JSON.parse(JSON.stringify(decode(schema, given).value))).toEqual(want);
    expect(given).toEqual(before);
  });

  it("puts fields into the order of the schema and keys of maps into their own", () => {
    const given = {
      data: { b: "1", a: "2" },
      metadata: { namespace: "n", name: "a" },
      kind: "ConfigMap",
      apiVersion: "v1",
    };
    expect(JSON.stringify(decode(core("ConfigMap"), given).value)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n"},"data":{"a":"2","b":"1"}}',
    );
  });

  it("reports unknown fields by path, in the order of the input", () => {
    const spec = {
      containers: [
        { name: "c", x: 1 },
        { name: "d", env: [{ name: "A", y: 1 }] },
      ],
      z: 1,
    };
    const { unknown, value } = decode(core("Pod"), { Spec: {}, spec, metadata: { bad: 2 } });
    expect(unknown).toEqual(["Spec", "spec.containers[0].x", "spec.containers[1].env[0].y", "spec.z", "metadata.bad"]);
    expect(JSON.stringify(value)).not.toMatch(/"x"|"y"|"z"|bad|Spec/);
    expect(decode(core("Pod"), { z: 1, metadata: { bad: 2 } }, { from: "maps" }).unknown).toEqual([
      "metadata.bad",
      "z",
    ]);
  });

  it.each<[ObjectSchema, Json, string]>([
    [
      core("ConfigMap"),
      { data: { k: 1 } },
      "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ],
    [
      core("ConfigMap"),
      { data: "x" },
      "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
    ],
    [
      core("Pod"),
      { spec: { containers: "no" } },
      "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [core("Pod"), { spec: [] }, "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec"],
    [
      core("Pod"),
      { metadata: { labels: { a: true } } },
      "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      core("Pod"),
      { metadata: { uid: 5 } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID",
    ],
    [
      core("Pod"),
      { spec: { containers: [{ livenessProbe: { httpGet: { port: false } } }] } },
      "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
    ],
    [
      core("Pod"),
      { spec: { ephemeralContainers: [{ resources: { limits: [] } }] } },
      "json: cannot unmarshal array into Go struct field ResourceRequirements.spec.ephemeralContainers.EphemeralContainerCommon.resources.limits of type v1.ResourceList",
    ],
    [
      core("Pod"),
      { spec: { volumes: [{ emptyDir: 5 }] } },
      "json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
    ],
    [
      typeSchema("io.k8s.api.admissionregistration.v1.NamedRuleWithOperations"),
      { scope: 5 },
      "json: cannot unmarshal number into Go struct field NamedRuleWithOperations.RuleWithOperations.Rule.scope of type v1.ScopeType",
    ],
    [
      typeSchema("io.k8s.api.resource.v1.CapacityRequirements"),
      { requests: "x" },
      "json: cannot unmarshal string into Go struct field CapacityRequirements.requests of type map[v1.QualifiedName]resource.Quantity",
    ],
    [core("Pod"), "x", "json: cannot unmarshal string into Go value of type v1.Pod"],
    [
      deployment,
      { spec: { replicas: "three" } },
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      { spec: { replicas: 1.5 } },
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      { spec: { replicas: 3e9 } },
      "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      { spec: { paused: 1 } },
      "json: cannot unmarshal number into Go struct field DeploymentSpec.spec.paused of type bool",
    ],
    [
      core("Service"),
      { spec: { ports: [{ port: "80" }] } },
      "json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32",
    ],
    [
      core("Service"),
      { spec: { ports: [{ targetPort: true }] } },
      "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
    ],
    [core("Secret"), { data: { k: "v" } }, "illegal base64 data at input byte 0"],
    [core("Secret"), { data: { k: "YWI" } }, "illegal base64 data at input byte 0"],
    [
      core("ResourceQuota"),
      { spec: { hard: { cpu: "x" } } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      core("Pod"),
      { metadata: { creationTimestamp: 5 } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ],
    [
      core("Pod"),
      { metadata: { creationTimestamp: "x" } },
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
  ])("refuses %#", (schema, given, message) => expect(() => decode(schema, given)).toThrow(message));

  it.each<[ObjectSchema, Json, string]>([
    [core("ConfigMap"), { data: "x" }, "cannot restore map from string"],
    [core("ConfigMap"), { data: ["x"] }, "cannot restore map from slice"],
    [core("ConfigMap"), { metadata: { finalizers: "x" } }, "cannot restore slice from string"],
    [core("ConfigMap"), { metadata: "x" }, "cannot restore struct from: string"],
    [core("ConfigMap"), { data: { k: 5 } }, "cannot convert int64 to string"],
    [core("ConfigMap"), { data: { k: true } }, "unrecognized type: string"],
    [deployment, { spec: { replicas: "x" } }, "unrecognized type: int32"],
    [deployment, { spec: { replicas: 1.5 } }, "cannot convert float64 to int32"],
    [core("Pod"), { spec: { dnsPolicy: 5 } }, "cannot convert int64 to v1.DNSPolicy"],
    [core("Pod"), { spec: { dnsPolicy: true } }, "unrecognized type: string"],
    [core("Pod"), { spec: { hostNetwork: "x" } }, "unrecognized type: bool"],
  ])("refuses maps %#", (schema, given, message) => {
    expect(() => decode(schema, given, { from: "maps" })).toThrow(new Error(message).message);
  });

  it("only prunes what has no Go type", () => {
    const schema: ObjectSchema = {
      type: "object",
      fields: new Map([
        [
          "spec",
          {
            name: "spec",
            number: 0,
            required: false,
            pointer: false,
            omit: "empty",
            schema: { type: "object", preserveUnknown: true, fields: new Map() },
          },
        ],
      ]),
    };
    expect(decode(schema, { spec: { b: null, a: "" }, other: 1 })).toEqual({
      value: { spec: { b: null, a: "" } },
      unknown: ["other"],
    });
  });
});

describe("base64", () => {
  it.each<[string, number | undefined]>([
    ["v", 0],
    ["YWJj", undefined],
    ["YQ=", 3],
    ["YQ==x", 4],
    ["Y?==", 1],
    ["YW\nJj", undefined],
    ["YR==", undefined],
  ])("of %j", (text, at) => {
    const decoding = () => decode(core("Secret"), { metadata: {}, data: { k: text } });
    if (at === undefined) expect(decoding).not.toThrow();
    else expect(decoding).toThrow(`illegal base64 data at input byte ${at}`);
  });
});

const shared = recordings();

describe.skipIf(!existsSync(shared))("objects of a real server", () => {
  it("decode to themselves, to the letter", () => {
    const folder = new URL("reference/protobuf/", shared);
    let seen = 0;
    for (const file of readdirSync(folder)) {
      const { json, status } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as {
        json?: JsonObject;
        status?: Json;
      };
      const schema = isObject(json) && Array.isArray(status) ? schemaOf(json) : undefined;
      if (json === undefined || schema === undefined) continue;
      seen++;
      expect([file, JSON.stringify(decode(schema, json).value)]).toEqual([file, JSON.stringify(json)]);
    }
    expect(seen).toBeGreaterThan(25);
  });

  it("are refused, and warned of, in the same words", () => {
    const folder = new URL("oracle/", shared);
    const read = (path: string) => JSON.parse(readFileSync(new URL(path, folder), "utf8")) as { steps: JsonObject[] };
    let seen = 0;
    for (const name of ["http-400-malformed-json", "fieldvalidation-strict-create", "fieldvalidation-case"]) {
      const answers = read(`golden/${name}.json`).steps;
      for (const [i, { body: given }] of read(`cases/${name}.json`).steps.entries()) {
        const answer = answers[i]?.body;
        const said = isObject(answer)
          ? /^\w+ in version "v1" cannot be handled as a \w+: (.*)$/.exec(String(answer.message))?.[1]
          : undefined;
        if (said === undefined || given === undefined) continue;
        seen++;
        expect(`${name}: ${refusal(typeof given === "string" ? given : JSON.stringify(given))}`).toBe(
          `${name}: ${said}`,
        );
      }
    }
    expect(seen).toBeGreaterThan(7);
  });
});

function refusal(text: string): string {
  const value = parseJson(text) as JsonObject;
  const schema = schemaOf(value);
  if (schema === undefined) return "no schema";
  try {
    const { unknown } = decode(schema, value);
    return `strict decoding error: ${strictFieldErrors(text, value, unknown).join(", ")}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function schemaOf({ apiVersion, kind }: JsonObject): ObjectSchema | undefined {
  const [group, version] = String(apiVersion).includes("/")
    ? String(apiVersion).split("/")
    : ["core", String(apiVersion)];
  try {
    return typeSchema(`io.k8s.api.${group?.split(".")[0]}.${version}.${String(kind)}`);
  } catch {
    return undefined;
  }
}
