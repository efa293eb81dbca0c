import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeEnvelope } from "#api";
import { configMap, type TestServer, testServer } from "../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const X = `${CONFIG_MAPS}/x`;
const as = (shape: string, type = "application/json") => ({
  headers: { accept: `${type};as=${shape};v=v1;g=meta.k8s.io` },
});

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
  await server.request("POST", CONFIG_MAPS, { body: configMap("x", { a: "1" }) });
  await server.request("POST", CONFIG_MAPS, { body: configMap("y", { a: "1", b: "2" }) });
  await server.clock.advance(90_000);
});
afterEach(() => server.close());

describe("an object", () => {
  it("is the same in each form", async () => {
    const json = await server.request("GET", X);
    const pretty = await server.request("GET", `${X}?pretty=true`);
    expect(pretty.json).toEqual(json.json);
    expect([json.text.split("\n").length, pretty.text.split("\n").length > 10]).toEqual([2, true]);
    const yaml = await server.request("GET", X, { headers: { accept: "application/yaml" } });
    expect(yaml.headers["content-type"]).toBe("application/yaml");
    expect(yaml.text).toMatch(/^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/);
    expect(yaml.text).toContain("managedFields:\n  - apiVersion: v1\n");
    expect(yaml.text).not.toMatch(/[&*]a1/);
    const protobuf = await server.request("GET", X, { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    expect(decodeEnvelope(protobuf.bytes)).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
  });

  it("is a table of one row", async () => {
    const { json } = await server.request("GET", X, as("Table"));
    expect(json).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata: { resourceVersion: "1" },
      columnDefinitions: [
        { name: "Name", type: "string", format: "name", priority: 0 },
        { name: "Data", type: "string", format: "", priority: 0 },
        { name: "Age", type: "string", format: "", priority: 0 },
      ],
      rows: [
        {
          cells: ["x", 1, "90s"],
          object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "x" } },
        },
      ],
    });
  });

  it("is metadata alone", async () => {
    const { json } = await server.request("GET", X, as("PartialObjectMetadata"));
    expect(json).toMatchObject({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "x" },
    });
    expect(json).not.toHaveProperty("data");
    const protobuf = await server.request("GET", X, as("PartialObjectMetadata", "application/vnd.kubernetes.protobuf"));
    expect(decodeEnvelope(protobuf.bytes)).toMatchObject({
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadata",
    });
  });

  it("that was written is answered as the writer likes it", async () => {
    const body = configMap("z");
    const { status, json } = await server.request("POST", CONFIG_MAPS, { body, ...as("Table") });
    expect([status, json.kind]).toEqual([201, "Table"]);
  });
});

describe("a list", () => {
  it("is the same in each form", async () => {
    const json = await server.request("GET", CONFIG_MAPS);
    expect((await server.request("GET", `${CONFIG_MAPS}?pretty=1`)).json).toEqual(json.json);
    const protobuf = await server.request("GET", CONFIG_MAPS, {
      headers: { accept: "application/vnd.kubernetes.protobuf" },
    });
    expect(decodeEnvelope(protobuf.bytes)).toMatchObject({ apiVersion: "v1", kind: "ConfigMapList" });
  });

  it("is a table of a row for each", async () => {
    const { json } = await server.request("GET", `${CONFIG_MAPS}?limit=1`, as("Table"));
    expect(json).toMatchObject({
      metadata: { resourceVersion: "2", remainingItemCount: 1, continue: expect.any(String) },
      rows: [{ cells: ["x", 1, "90s"] }],
    });
  });

  it("is metadata alone", async () => {
    const { json } = await server.request("GET", CONFIG_MAPS, as("PartialObjectMetadataList"));
    expect(json).toMatchObject({
      kind: "PartialObjectMetadataList",
      metadata: { resourceVersion: "2" },
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "x" } }, { metadata: { name: "y" } }],
    });
  });
});

describe("what a table shows of its objects", () => {
  it.each([
    { include: "", want: "PartialObjectMetadata" },
    { include: "Metadata", want: "PartialObjectMetadata" },
    { include: "Object", want: "ConfigMap" },
    { include: "None", want: undefined },
  ])("includeObject=$include", async ({ include, want }) => {
    const { json } = await server.request("GET", `${X}?includeObject=${include}`, as("Table"));
    const [row] = json.rows as unknown as { object: { kind: string } | null }[];
    expect(row?.object?.kind).toBe(want);
  });

  it("refuses anything else", async () => {
    expect((await server.request("GET", `${X}?includeObject=All`, as("Table"))).json).toMatchObject({
      code: 400,
      message: `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
    });
  });
});

describe("a kind without columns of its own", () => {
  it("shows when each was made", async () => {
    const kinds = server.resources.find("", "v1", "configmaps")?.kind ?? expect.unreachable();
    const { columns: _, ...plain } = kinds;
    const bare = await testServer({ kinds: [{ ...plain, schema: kinds.schema }] });
    const watch = await bare.watch(`${CONFIG_MAPS}?watch=1`, as("Table"));
    await bare.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { json } = await bare.request("GET", X, as("Table"));
    expect(json).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "Created At", type: "date" }],
      rows: [{ cells: ["x", "2030-01-01T00:00:00Z"] }],
    });
    await bare.settle();
    expect(watch.events[0]?.object).toMatchObject({ rows: [{ cells: ["x", "2030-01-01T00:00:00Z"] }] });
    await bare.close();
  });
});
