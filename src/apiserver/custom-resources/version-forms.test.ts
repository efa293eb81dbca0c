import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";
import { DEFINITIONS, definition, widget } from "./testing/index.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const MERGE = { "content-type": "application/merge-patch+json" };
const phase = { type: "string" };
const schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { size: { type: "integer", default: 3 } } },
    status: { type: "object", properties: { phase }, default: { phase: "Unknown" } },
  },
};

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
  const versions = [{ name: "v1", storage: true, schema, subresources: { status: {} } }];
  await server.request("POST", DEFINITIONS, { body: definition({ versions }) });
  await server.settle();
});
afterEach(() => server.close());

const patch = async (path: string, body: object) =>
  (await server.request("PATCH", path, { body, headers: MERGE })).json;

describe("a status that the schema gives", () => {
  it("is shown wherever the object is, from the first answer on", async () => {
    const watch = await server.watch(`${WIDGETS}?watch=1&fieldSelector=metadata.name=a`);
    const given = { ...widget("a", {}), status: { phase: "Mine" } };
    const { json: created } = await server.request("POST", WIDGETS, { body: given });
    expect(created).toMatchObject({ spec: { size: 3 }, status: { phase: "Unknown" } });
    expect((await server.request("GET", `${WIDGETS}/a`)).json).toEqual(created);
    expect(await watch.seen()).toEqual(["ADDED a"]);
    const { json } = await server.request("GET", WIDGETS);
    expect(json).toMatchObject({ items: [{ status: { phase: "Unknown" } }] });
  });

  it("is kept by the first change, however small; a second one that changes nothing is none", async () => {
    await server.request("POST", WIDGETS, { body: widget("a") });
    const first = await patch(`${WIDGETS}/a`, { spec: { size: 3 } });
    expect(first).toMatchObject({ metadata: { generation: 1 }, status: { phase: "Unknown" } });
    expect(await patch(`${WIDGETS}/a`, { spec: { size: 3 } })).toEqual(first);
  });

  it("gives way to one that is written", async () => {
    await server.request("POST", WIDGETS, { body: widget("a") });
    const ready = await patch(`${WIDGETS}/a/status`, { status: { phase: "Ready" } });
    expect(ready).toMatchObject({ status: { phase: "Ready" } });
    expect(await patch(`${WIDGETS}/a`, { spec: { size: 4 } })).toMatchObject({ status: { phase: "Ready" } });
  });
});
