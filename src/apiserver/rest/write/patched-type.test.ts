/** Patches of apiVersion and kind, and values that only protobuf's storage form explains. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFINITIONS, definition, widget } from "../../custom-resources/testing/index.ts";
import { configMap, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAP = "/api/v1/namespaces/default/configmaps/a";
const WIDGET = "/apis/example.com/v1/namespaces/default/widgets/a";
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

let server: TestServer;

beforeAll(async () => {
  server = await testServer();
  await server.request("POST", DEFINITIONS, { body: definition() });
  await server.settle();
  await server.request("POST", CONFIG_MAP.slice(0, -2), { body: configMap("a", { key: "value" }) });
  await server.request("POST", WIDGET.slice(0, -2), { body: widget("a") });
});

afterAll(() => server.close());

describe("a patch", () => {
  it.each([
    [
      "leaves the type of an object as it is",
      CONFIG_MAP,
      MERGE,
      '{"apiVersion":null,"kind":null}',
      200,
      '"apiVersion":"v1"',
    ],
    [
      "cannot give it one that is no text",
      CONFIG_MAP,
      JSON_PATCH,
      '[{"op":"copy","from":"/data","path":"/kind"}]',
      422,
      "couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct field .kind of type string",
    ],
    [
      "cannot take that of a custom resource, which has no other",
      WIDGET,
      MERGE,
      '{"kind":null,"spec":{"size":9007199254740993}}',
      422,
      "Object 'Kind' is missing in",
    ],
  ])("%s", async (_, path, type, body, status, want) => {
    const answer = await server.request("PATCH", path, { body, headers: { "content-type": type } });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(want)]);
  });
});

it("bytes that are null in a map are stored as none", async () => {
  const body = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":null,"b":"aGk="}}';
  const { json } = await server.request("POST", "/api/v1/namespaces/default/secrets", { body });
  expect(json.data).toEqual({ a: "", b: "aGk=" });
});
