/** Documents that are nested deeply: no request of them ends without an answer that says so. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseYaml } from "#api";
import { DEFINITIONS, definition, widget } from "./custom-resources/testing/index.ts";
import { type TestServer, testServer } from "./testing/index.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions";

let server: TestServer;

beforeAll(async () => {
  server = await testServer();
  await server.request("POST", DEFINITIONS, { body: definition() });
  await server.settle();
});

afterAll(() => server.close());

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const listed = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const withSpec = (name: string, free: string) => JSON.stringify(widget(name, { free: "X" })).replace('"X"', free);

function send(method: string, path: string, type: string, body: string) {
  return server.request(method, path, { body, headers: { "content-type": type } });
}

describe("what is nested too deeply", () => {
  const depth = 10_001;
  const revision = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"data":${nested(depth)}}`;
  it.each([
    ["POST", WIDGETS, "application/json", withSpec("a", nested(depth)), "invalid character '{' exceeded max depth"],
    ["POST", WIDGETS, "application/json", withSpec("a", listed(depth)), "invalid character '[' exceeded max depth"],
    ["POST", WIDGETS, "application/yaml", withSpec("a", listed(depth)), "yaml: exceeded max depth of 10000"],
    ["POST", REVISIONS, "application/json", revision, "invalid character '{' exceeded max depth"],
    ["PATCH", WIDGETS, "application/merge-patch+json", `{"spec":${nested(depth)}}`, "exceeded max depth"],
    [
      "PATCH",
      WIDGETS,
      "application/json-patch+json",
      `[{"op":"add","path":"/spec","value":${listed(depth)}}]`,
      "exceeded max depth",
    ],
    ["PATCH", WIDGETS, "application/apply-patch+yaml", withSpec("there", nested(depth)), "exceeded max depth of 10000"],
  ])("%s %s as %s", async (method, path, type, body, why) => {
    await server.request("POST", WIDGETS, { body: widget("there") });
    const target = method === "PATCH" ? `${path}/there?fieldManager=a` : path;
    const { status, json } = await send(method, target, type, body);
    expect([status, json.message]).toEqual([400, expect.stringContaining(why)]);
  });

  it("step by step", async () => {
    await server.request("POST", WIDGETS, { body: widget("step") });
    const answers: number[] = [];
    for (let step = 1; step <= 12; step++) {
      const value = `[{"op":"add","path":"/spec${"/a".repeat(900 * (step - 1))}/a","value":${nested(899)}}]`;
      answers.push((await send("PATCH", `${WIDGETS}/step`, "application/json-patch+json", value)).status);
    }
    expect(answers[0]).toBe(200);
    expect(answers.filter((status) => status !== 200 && status !== 400 && status !== 422)).toEqual([]);
  });
});

it("what is nested as deeply as allowed is read in every format", async () => {
  const name = "deep";
  const created = await send("POST", WIDGETS, "application/json", withSpec(name, nested(990)));
  expect(created.status).toBe(201);
  const json = await server.request("GET", `${WIDGETS}/${name}`);
  expect(json.text).toContain(nested(990));
  const yaml = await server.request("GET", `${WIDGETS}/${name}`, { headers: { accept: "application/yaml" } });
  expect(yaml.status).toBe(200);
  const shallow = await server.request("GET", `${WIDGETS}/there`, { headers: { accept: "application/yaml" } });
  expect(parseYaml(shallow.text).value).toMatchObject({ kind: "Widget" });
});
