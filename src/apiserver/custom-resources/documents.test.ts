/** What clients find out about custom kinds, and in which forms they get them. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type JsonObject, storageVersionHash } from "#api";
import { type TestServer, testServer } from "../testing/index.ts";
import { DEFINITIONS, definition, widget } from "./testing/index.ts";

const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

const described = {
  type: "object",
  description: "A thing to test with.",
  properties: {
    spec: {
      type: "object",
      properties: { size: { type: "integer", description: "How large it is." }, replicas: { type: "integer" } },
    },
    status: { type: "object", properties: { replicas: { type: "integer" } } },
  },
};
const full = definition({
  names: { shortNames: ["wd"], categories: ["all"] },
  versions: [
    {
      name: "v1",
      storage: true,
      schema: described,
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
      },
      additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
    },
    { name: "v1beta1", deprecated: true },
  ],
});

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
  const { status, text } = await server.request("POST", DEFINITIONS, { body: full });
  expect(status, text).toBe(201);
  await server.settle();
});
afterEach(() => server.close());

const get = async (path: string, accept?: string) =>
  server.request("GET", path, accept === undefined ? {} : { headers: { accept } });
const hashOf = (version: string) =>
  storageVersionHash({ group: "example.com", version }, "Widget", (text) => createHash("sha256").update(text).digest());

describe("discovery", () => {
  it("has the group behind the built-in ones, its versions by the meaning of their names", async () => {
    const { json } = await get("/apis");
    const groups = json.groups as readonly JsonObject[];
    expect(groups.at(-1)).toEqual({
      name: "example.com",
      versions: ["v1", "v1beta1"].map((version) => ({ groupVersion: `example.com/${version}`, version })),
      preferredVersion: { groupVersion: "example.com/v1", version: "v1" },
    });
    expect((await get("/apis/example.com")).json).toMatchObject({ kind: "APIGroup", name: "example.com" });
    expect((await get("/")).json.paths).toContain("/apis/example.com/v1");
  });

  it("has the resources with their subresources, and one hash for the version in which they are stored", async () => {
    expect((await get("/apis/example.com/v1")).json.resources).toEqual([
      {
        name: "widgets",
        singularName: "widget",
        namespaced: true,
        kind: "Widget",
        verbs: VERBS,
        shortNames: ["wd"],
        categories: ["all"],
        storageVersionHash: hashOf("v1"),
      },
      {
        name: "widgets/status",
        singularName: "",
        namespaced: true,
        kind: "Widget",
        verbs: ["get", "patch", "update"],
      },
      {
        name: "widgets/scale",
        singularName: "",
        namespaced: true,
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
        verbs: ["get", "patch", "update"],
      },
    ]);
    expect((await get("/apis/example.com/v1beta1")).json.resources).toMatchObject([
      { storageVersionHash: hashOf("v1") },
    ]);
  });

  it("has the aggregated form", async () => {
    const { json } = await get("/apis", AGGREGATED);
    expect((json.items as readonly JsonObject[]).at(-1)).toMatchObject({
      metadata: { name: "example.com" },
      versions: [
        {
          version: "v1",
          freshness: "Current",
          resources: [
            {
              resource: "widgets",
              responseKind: { group: "example.com", version: "v1", kind: "Widget" },
              scope: "Namespaced",
              singularResource: "widget",
              subresources: [{ subresource: "status" }, { subresource: "scale" }],
            },
          ],
        },
        { version: "v1beta1" },
      ],
    });
  });

  it("forgets a group with its last definition", async () => {
    await server.request("DELETE", `${DEFINITIONS}/widgets.example.com`);
    await server.settle();
    expect((await get("/apis/example.com")).status).toBe(404);
    expect((await get("/apis", AGGREGATED)).text).not.toContain("example.com");
    expect((await get("/openapi/v3")).text).not.toContain("example.com");
    expect((await get("/openapi/v3/apis/example.com/v1")).status).toBe(404);
  });
});

describe("OpenAPI", () => {
  it("has the schema that the definition wrote, in version 3 and in version 2", async () => {
    const v3 = (await get("/openapi/v3/apis/example.com/v1")).json;
    expect(v3).toMatchObject({
      components: {
        schemas: {
          "com.example.v1.Widget": {
            description: "A thing to test with.",
            properties: { spec: { properties: { size: { type: "integer", description: "How large it is." } } } },
            "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Widget" }],
          },
        },
      },
    });
    expect(Object.keys(v3.paths as object)).toContain(
      "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale",
    );
    const v2 = (await get("/openapi/v2")).json;
    expect(v2).toMatchObject({ definitions: { "com.example.v1.Widget": { description: "A thing to test with." } } });
  });
});

describe("an object of a custom kind", () => {
  beforeEach(async () => {
    await server.request("POST", WIDGETS, { body: widget("a", { size: 3, replicas: 1 }) });
  });

  it.each([
    { path: `${WIDGETS}/a`, accept: PROTOBUF, want: 406 },
    { path: WIDGETS, accept: PROTOBUF, want: 406 },
    { path: `${WIDGETS}/a`, accept: `${PROTOBUF},application/json`, want: 200 },
    { path: `${WIDGETS}/a/status`, accept: PROTOBUF, want: 406 },
    { path: `${WIDGETS}/a/scale`, accept: PROTOBUF, want: 200 },
    { path: WIDGETS, accept: `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`, want: 200 },
  ])("$accept of $path: $want", async ({ path, accept, want }) => {
    expect((await get(path, accept)).status).toBe(want);
  });

  it("has no protobuf, and no strategic merge patch", async () => {
    const body = Buffer.from("k8s\0");
    const create = await server.request("POST", WIDGETS, { body, headers: { "content-type": PROTOBUF } });
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    const patch = await server.request("PATCH", `${WIDGETS}/a`, { body: {}, headers });
    expect([create.status, patch.status]).toEqual([415, 415]);
    expect(patch.json.message).toBe(
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
  });

  it("is a table with the columns of its version", async () => {
    const { json } = await get(WIDGETS, "application/json;as=Table;v=v1;g=meta.k8s.io");
    expect(json).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "Size" }],
      rows: [{ cells: ["a", 3] }],
    });
  });

  it("comes with a warning in a version that is deprecated", async () => {
    const { headers } = await get("/apis/example.com/v1beta1/namespaces/default/widgets/a");
    expect(headers.warning).toEqual(['299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"']);
    expect((await get(`${WIDGETS}/a`)).headers.warning).toBeUndefined();
  });

  it("has a status and a scale", async () => {
    const headers = { "content-type": "application/merge-patch+json" };
    const body = { spec: { size: 9 }, status: { replicas: 1 } };
    const status = await server.request("PATCH", `${WIDGETS}/a/status`, { body, headers });
    expect(status.json).toMatchObject({ spec: { size: 3 }, status: { replicas: 1 }, metadata: { generation: 1 } });
    const scale = await server.request("PATCH", `${WIDGETS}/a/scale`, { body: { spec: { replicas: 4 } }, headers });
    expect(scale.json).toMatchObject({ kind: "Scale", spec: { replicas: 4 }, status: { replicas: 1 } });
    expect((await get(`${WIDGETS}/a`)).json).toMatchObject({ spec: { replicas: 4 }, metadata: { generation: 2 } });
  });
});
