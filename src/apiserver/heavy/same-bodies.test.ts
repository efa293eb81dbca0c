/**
 * A body that is decoded in the thread gives the same answer as one that is decoded here, byte by byte: of everything
 * that is posted without being stored, of Scales and of options, in every format, whole and faulty.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  encodeCbor,
  encodeEnvelope,
  encodeProtobuf,
  isObject,
  type Json,
  type JsonObject,
  parseFeatures,
  typeSchema,
} from "#api";
import { configMap, deployment, type TestServer } from "../testing/index.ts";
import { serverWithConnectors } from "./testing/server.ts";

const CORE = "/api/v1/namespaces/default";
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/d";
const POD = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "a:1" }] },
};

interface Endpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Its body, and the type of it. */
  readonly object: JsonObject;
  readonly typeName: string;
  /** Of a patch; absent: those of an object. */
  readonly contentType?: string;
}

const review = (group: string, kind: string, spec: JsonObject, namespaced = false): Endpoint => ({
  name: kind,
  method: "POST",
  path: `/apis/${group}.k8s.io/v1/${namespaced ? "namespaces/default/" : ""}${kind.toLowerCase()}s`,
  object: { kind, apiVersion: `${group}.k8s.io/v1`, metadata: {}, ...(Object.keys(spec).length > 0 && { spec }) },
  typeName: `io.k8s.api.${group}.v1.${kind}`,
});

const at = { namespace: "default", verb: "get", group: "apps", resource: "deployments" };
const subject = { user: "jane", groups: ["dev"], extra: { a: ["b", "ü😀"] }, resourceAttributes: at };

const scale = (method: string, contentType?: string): Endpoint => ({
  name: `${method} Scale ${contentType ?? ""}`,
  method,
  path: `${DEPLOYMENT}/scale?dryRun=All${contentType?.includes("apply") === true ? "&fieldManager=m&force=true" : ""}`,
  object: { kind: "Scale", apiVersion: "autoscaling/v1", metadata: { name: "d" }, spec: { replicas: 3 } },
  typeName: "io.k8s.api.autoscaling.v1.Scale",
  ...(contentType !== undefined && { contentType }),
});

const deletion = (path: string): Endpoint => ({
  name: `DELETE ${path}`,
  method: "DELETE",
  path: `${CORE}/${path}?dryRun=All`,
  object: { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, propagationPolicy: "Background" },
  typeName: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
});

const binding = (path: string): Endpoint => ({
  name: `Binding at ${path}`,
  method: "POST",
  path: `${CORE}/${path}?dryRun=All`,
  object: { kind: "Binding", apiVersion: "v1", metadata: { name: "p" }, target: { kind: "Node", name: "n" } },
  typeName: "io.k8s.api.core.v1.Binding",
});

const endpoints: readonly Endpoint[] = [
  review("authorization", "SelfSubjectAccessReview", { resourceAttributes: at }),
  review("authorization", "SubjectAccessReview", subject),
  review("authorization", "LocalSubjectAccessReview", subject, true),
  review("authorization", "SelfSubjectRulesReview", { namespace: "default" }),
  review("authentication", "SelfSubjectReview", {}),
  review("authentication", "TokenReview", { token: "good" }),
  binding("pods/p/binding"),
  binding("bindings"),
  {
    name: "Eviction",
    method: "POST",
    path: `${CORE}/pods/p/eviction?dryRun=All`,
    object: { kind: "Eviction", apiVersion: "policy/v1", metadata: { name: "p" }, deleteOptions: {} },
    typeName: "io.k8s.api.policy.v1.Eviction",
  },
  {
    name: "TokenRequest",
    method: "POST",
    path: `${CORE}/serviceaccounts/sa/token`,
    object: { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", metadata: {}, spec: { audiences: ["a"] } },
    typeName: "io.k8s.api.authentication.v1.TokenRequest",
  },
  deletion("configmaps/a"),
  deletion("configmaps"),
  scale("PUT"),
  scale("PATCH", "application/apply-patch+yaml"),
  scale("PATCH", "application/apply-patch+cbor"),
  scale("PATCH", "application/merge-patch+json"),
  scale("PATCH", "application/strategic-merge-patch+json"),
];

const KEYS = 3000;
/** More than one piece, and keys and texts that are hard to pass on. */
const annotations = Object.fromEntries([
  ...Array.from({ length: KEYS }, (_, key) => [`k${key}.example.com/a-long-name`, `${key} <&> ü😀 \u2028`]),
  ["__proto__", "own"],
]) as JsonObject;

function variants(object: JsonObject): Record<string, Json> {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return {
    whole: object,
    large: { ...object, metadata: { ...metadata, annotations } },
    "an unknown field": { ...object, unknown: { deep: [1, 2.5, -0.5e30] } },
    "a field of another type": { ...object, metadata: 7, dryRun: 7 },
    "another kind": { ...object, kind: "ConfigMap", apiVersion: "v1" },
    "a kind that is no text": { ...object, kind: 7 },
    "a list": [object],
    nothing: null,
  };
}

const asYaml = (value: Json) =>
  isObject(value)
    ? Object.entries(value)
        .map(([key, field]) => `${key}: ${JSON.stringify(field)}\n`)
        .join("")
    : JSON.stringify(value);

interface Case {
  readonly name: string;
  readonly contentType: string;
  readonly body: string | Buffer;
}

function texts({ object }: Endpoint, contentType: string, text: (value: Json) => string): Case[] {
  const isYaml = text === asYaml;
  const made = (name: string, body: string) => ({ name, contentType, body });
  const whole = text(object);
  const metadata = JSON.stringify(object.metadata ?? {});
  const more = ["unknown", "unknown"].map((name) => (isYaml ? `${name}: 1\n` : `,"${name}":1`)).join("");
  return [
    ...Object.entries(variants(object)).map(([name, value]) => made(name, text(value))),
    made("equal keys", isYaml ? `${whole}metadata: ${metadata}\n` : `${whole.slice(0, -1)},"metadata":${metadata}}`),
    made("equal unknown keys", isYaml ? whole + more : `${whole.slice(0, -1)}${more}}`),
    made("a syntax error", isYaml ? `${whole}  - [` : whole.slice(0, -1)),
    made("too deep", isYaml ? `a: ${"[".repeat(20_000)}` : '{"a":'.repeat(20_000)),
    made("blank", " "),
  ];
}

function protobuf({ object, typeName }: Endpoint): Case[] {
  const contentType = "application/vnd.kubernetes.protobuf";
  const { kind, apiVersion } = object as { kind: string; apiVersion: string };
  const whole = encodeProtobuf(typeSchema(typeName), object);
  const enveloped = (raw: Uint8Array<ArrayBuffer>, name = kind) =>
    Buffer.from(encodeEnvelope({ apiVersion, kind: name, raw }));
  return [
    { name: "whole", contentType, body: enveloped(whole) },
    { name: "cut", contentType, body: enveloped(whole.slice(0, -1)) },
    { name: "another kind", contentType, body: enveloped(whole, "ConfigMap") },
    { name: "no envelope", contentType, body: Buffer.from(whole) },
    { name: "text", contentType, body: JSON.stringify(object) },
  ];
}

function cbor({ object }: Endpoint, contentType = "application/cbor"): Case[] {
  const all = Object.entries(variants(object)).map(([name, value]) => ({
    name,
    contentType,
    body: Buffer.from(encodeCbor(value)),
  }));
  return [...all, { name: "cut", contentType, body: Buffer.from(encodeCbor(object).subarray(0, -1)) }];
}

function casesOf(endpoint: Endpoint): Case[] {
  const { contentType } = endpoint;
  if (contentType?.endsWith("cbor") === true) return cbor(endpoint, contentType);
  if (contentType?.endsWith("yaml") === true)
    return [...texts(endpoint, contentType, asYaml), ...texts(endpoint, contentType, JSON.stringify)];
  if (contentType !== undefined) return texts(endpoint, contentType, JSON.stringify);
  return [
    ...texts(endpoint, "application/json", JSON.stringify),
    ...texts(endpoint, "application/yaml", asYaml),
    ...protobuf(endpoint),
    ...cbor(endpoint),
    { name: "a type of its own", contentType: "text/plain", body: "x" },
  ];
}

let here: TestServer;
let elsewhere: TestServer;

beforeAll(async () => {
  const features = parseFeatures({ gates: "CBORServingAndStorage=true" });
  here = await serverWithConnectors({ features });
  elsewhere = await serverWithConnectors({ features, heavy: { allowPrivileged: true, largeBytes: 0 } });
  for (const server of [here, elsewhere]) {
    await server.request("POST", `${CORE}/pods`, { body: POD });
    await server.request("POST", `${CORE}/serviceaccounts`, { body: { metadata: { name: "sa" } } });
    await server.request("POST", `${CORE}/configmaps`, { body: configMap("a") });
    await server.request("POST", DEPLOYMENT.slice(0, -2), { body: deployment("d") });
  }
});

afterAll(async () => {
  await here.close();
  await elsewhere.close();
});

async function answers(server: TestServer, { method, path }: Endpoint, cases: readonly Case[]) {
  const all = [];
  for (const { name, contentType, body } of cases) {
    for (const validation of ["Strict", "Warn", "Ignore"]) {
      const validated = `${path}${path.includes("?") ? "&" : "?"}fieldValidation=${validation}`;
      const { status, text, headers } = await server.request(method, validated, {
        body,
        headers: { "content-type": contentType },
      });
      all.push({
        name,
        contentType,
        validation,
        status,
        headers,
        text: text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UID"),
      });
    }
  }
  return all;
}

describe("the same answer to a body", () => {
  it.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))("%s", async (_, endpoint) => {
    const cases = casesOf(endpoint);
    const expected = await answers(here, endpoint, cases);
    expect(expected.filter(({ name, status }) => name === "whole" && status >= 300)).toEqual([]);
    expect(await answers(elsewhere, endpoint, cases)).toEqual(expected);
  });
});
