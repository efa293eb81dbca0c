/**
 * Integers of 64 bits, whole requests: whatever a client sends and however it asks for it, no digit is lost.
 *
 * A number of JavaScript holds integers below 2^53 only; see `int64.ts` of the api's machinery.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeEnvelope,
  encodeProtobuf,
  type JsonObject,
  parseJson,
  parseYaml,
  typeSchema,
} from "#api";
import { DEFINITIONS, definition } from "./custom-resources/testing/index.ts";
import { type TestServer, testServer } from "./testing/index.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions";
const REVISION_SCHEMA = typeSchema("io.k8s.api.apps.v1.ControllerRevision");
const PROTOBUF = "application/vnd.kubernetes.protobuf";

const integer = { type: "integer" };
const spec = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
  properties: {
    size: { ...integer, format: "int64", minimum: -(2 ** 63), default: 9007199254740993n },
    ratio: { type: "number" },
    set: { type: "array", items: integer, "x-kubernetes-list-type": "set" },
    keyed: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: { type: "object", required: ["id"], properties: { id: integer, note: { type: "string" } } },
    },
    same: { ...integer, "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "may not change" }] },
  },
  "x-kubernetes-validations": [{ rule: "!has(self.next) || self.next == self.size + 1" }],
};
const columns = [
  { name: "Size", type: "integer", jsonPath: ".spec.size" },
  { name: "Text", type: "string", jsonPath: ".spec.size" },
];

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 2n }),
  fc.bigInt({ min: -3n, max: 3n }).map((near) => 2n ** 53n + near),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 2n, 0n, 1n),
);
const runs = { numRuns: 40, seed: 20261118 };

let server: TestServer;
let made = 0;

beforeAll(async () => {
  server = await testServer();
  const schema = {
    type: "object",
    properties: { spec: { ...spec, properties: { ...spec.properties, next: integer } } },
  };
  const version = { name: "v1", storage: true, schema, additionalPrinterColumns: columns };
  const { status } = await server.request("POST", DEFINITIONS, { body: definition({ versions: [version] }) });
  expect(status).toBe(201);
  await server.settle();
});

afterAll(() => server.close());

async function sent(method: string, path: string, type: string, body: string | Buffer, accept = "application/json") {
  const answer = await server.request(method, path, { body, headers: { "content-type": type, accept } });
  expect([200, 201], answer.text).toContain(answer.status);
  return answer;
}

function widget(name: string, fields: string, version = ""): string {
  const metadata = `{"name":"${name}"${version === "" ? "" : `,"resourceVersion":"${version}"`}}`;
  return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":${metadata},"spec":{${fields}}}`;
}

/** Two fields of the spec, as a client reads them in each format. */
async function shown(path: string): Promise<readonly string[]> {
  const read = await server.request("GET", path);
  const pretty = await server.request("GET", `${path}?pretty=true`);
  const yaml = await server.request("GET", path, { headers: { accept: "application/yaml" } });
  const texts = [read.json, pretty.json, parseYaml(yaml.text).value as JsonObject];
  return texts.map((object) => {
    const { size, free } = object.spec as JsonObject;
    return `${size} ${free}`;
  });
}

describe("a custom resource", () => {
  it("keeps every digit through JSON, YAML, the patches, apply, tables and the store", async () => {
    await fc.assert(
      fc.asyncProperty(int64, int64, async (a, b) => {
        const name = `w${made++}`;
        const path = `${WIDGETS}/${name}`;
        const both = `${a} ${b}`;
        const created = await sent("POST", WIDGETS, "application/json", widget(name, `"size":${a},"free":${b}`));
        expect(await shown(path)).toEqual([both, both, both]);

        const other = `${b} ${a}`;
        await sent(
          "PUT",
          path,
          "application/yaml",
          widget(name, `"size":${b},"free":${a}`, created.metadata.resourceVersion),
        );
        expect(await shown(path)).toEqual([other, other, other]);

        await sent("PATCH", path, "application/merge-patch+json", `{"spec":{"size":${a},"free":${b}}}`);
        expect(await shown(path)).toEqual([both, both, both]);

        const test = `{"op":"test","path":"/spec/size","value":${a}}`;
        const replace = `{"op":"replace","path":"/spec/size","value":${b}},{"op":"add","path":"/spec/free","value":${a}}`;
        await sent("PATCH", path, "application/json-patch+json", `[${test},${replace}]`);
        expect(await shown(path)).toEqual([other, other, other]);

        const applied = `"size":${a},"free":${b},"set":[${b},${a === b ? a + 1n : a}],"keyed":[{"id":${a},"note":"x"}]`;
        await sent("PATCH", `${path}?fieldManager=m&force=true`, "application/apply-patch+yaml", widget(name, applied));
        expect(await shown(path)).toEqual([both, both, both]);
        const { text } = await server.request("GET", path);
        expect(text).toContain(`"set":[${b},${a === b ? a + 1n : a}]`);
        expect(text).toContain(`"v:${b}":{}`);
        expect(text).toContain(`"k:{\\"id\\":${a}}":`);

        const table = await sent("GET", path, "", "", "application/json;as=Table;g=meta.k8s.io;v=v1");
        expect(table.text).toContain(`"cells":["${name}",${a},"${a}"]`);
      }),
      runs,
    );
  });

  it("has its rules checked with every digit", async () => {
    await fc.assert(
      fc.asyncProperty(int64, async (a) => {
        const name = `r${made++}`;
        await sent("POST", WIDGETS, "application/json", widget(name, `"size":${a},"next":${a + 1n},"same":${a}`));
        const body = `{"spec":{"same":${a + 1n}}}`;
        const type = { "content-type": "application/merge-patch+json" };
        const refused = await server.request("PATCH", `${WIDGETS}/${name}`, { body, headers: type });
        expect(refused.status).toBe(422);
        expect(refused.text).toContain(`Invalid value: ${a + 1n}: may not change`);
      }),
      runs,
    );
  });

  it.each([
    // A default of the schema; a float64 where an integer does not fit; as Go's JSON prints floating numbers.
    ["", { size: 9007199254740993n }],
    ['"size":1,"free":9223372036854775808', { size: 1, free: 2 ** 63 }],
    ['"size":1,"ratio":9007199254740993', { size: 1, ratio: 9007199254740993n }],
    ['"size":1,"free":1e21', { size: 1, free: 1e21 }],
    ['"size":1.0', { size: 1 }],
  ])("with %s", async (fields, want) => {
    const { json } = await sent("POST", WIDGETS, "application/json", widget(`f${made++}`, fields));
    expect(json.spec).toEqual(want);
  });

  it.each([
    [
      '"size":9223372036854775808',
      'spec.size: Invalid value: "float64": spec.size in body must be of type int64: "float64"',
    ],
    ['"size":1e400', "json: cannot unmarshal number 1e400 into Go value of type float64"],
  ])("is refused with %s", async (fields, why) => {
    const { json } = await server.request("POST", WIDGETS, { body: widget("no", fields) });
    expect(json.message).toContain(why);
  });
});

describe("a typed object", () => {
  const revision = (name: string, number: bigint) =>
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"data":{"raw":${number}},"revision":${number}}`;

  it("keeps every digit through JSON, YAML, protobuf, the four patches and the store", async () => {
    await fc.assert(
      fc.asyncProperty(int64, int64, async (x, y) => {
        const [a, b] = [x, y].map((each) => (each < 0n ? -(each + 1n) : each)) as [bigint, bigint];
        const name = `c${made++}`;
        const path = `${REVISIONS}/${name}`;
        const expectAll = async (want: bigint) => {
          const { json, text } = await server.request("GET", path);
          const { bytes } = await server.request("GET", path, { headers: { accept: PROTOBUF } });
          const decoded = decodeProtobuf(REVISION_SCHEMA, decodeEnvelope(bytes).raw);
          expect(text).toContain(`"revision":${want}}`);
          expect(decoded).toEqual({ ...json, kind: undefined, apiVersion: undefined });
        };
        const raw = encodeProtobuf(REVISION_SCHEMA, parseJson(revision(name, a)) as JsonObject);
        const envelope = Buffer.from(encodeEnvelope({ apiVersion: "apps/v1", kind: "ControllerRevision", raw }));
        await sent("POST", REVISIONS, PROTOBUF, envelope);
        await expectAll(a);
        expect((await server.request("GET", path)).text).toContain(`"data":{"raw":${a}}`);
        await sent("PATCH", path, "application/strategic-merge-patch+json", `{"revision":${b}}`);
        await expectAll(b);
        await sent("PATCH", path, "application/merge-patch+json", `{"revision":${a}}`);
        await expectAll(a);
        await sent("PATCH", path, "application/json-patch+json", `[{"op":"replace","path":"/revision","value":${b}}]`);
        await expectAll(b);
        const applied = `apiVersion: apps/v1\nkind: ControllerRevision\nrevision: ${a}\n`;
        await sent("PATCH", `${path}?fieldManager=m&force=true`, "application/apply-patch+yaml", applied);
        await expectAll(a);
        const { text } = await server.request("GET", path, { headers: { accept: "application/yaml" } });
        expect((parseYaml(text).value as JsonObject).revision).toBe(parseJson(`${a}`));
      }),
      runs,
    );
  });

  const into = (literal: string) =>
    `json: cannot unmarshal number ${literal} into Go struct field ControllerRevision.revision of type int64`;

  it.each(["99999999999999999999", "9223372036854775808", "1.0", "1e3", "1.50"])("refuses %s", async (literal) => {
    const body = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"no"},"data":{},"revision":${literal}}`;
    const { status, json } = await server.request("POST", REVISIONS, { body });
    expect([status, json.message]).toEqual([
      400,
      `ControllerRevision in version "v1" cannot be handled as a ControllerRevision: ${into(literal)}`,
    ]);
  });

  it("refuses a patch by the spelling of its number", async () => {
    await sent("POST", REVISIONS, "application/json", revision("patched", 1n));
    const headers = { "content-type": "application/merge-patch+json" };
    const { status, text } = await server.request("PATCH", `${REVISIONS}/patched`, {
      body: '{"revision":2.0}',
      headers,
    });
    expect([status, text]).toEqual([422, expect.stringContaining(into("2.0"))]);
  });
});
