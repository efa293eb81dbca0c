/** Several versions of one kind that differ in nothing but their name, or in their schemas: conversion None. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";
import { DEFINITIONS, definition, widget } from "./testing/index.ts";

const V1 = "/apis/example.com/v1/namespaces/default/widgets";
const V2 = "/apis/example.com/v2/namespaces/default/widgets";
const DEFINITION = `${DEFINITIONS}/widgets.example.com`;
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const KEY = "/registry/example.com/widgets/default/a";

const sized = (properties: object) => ({
  type: "object",
  properties: {
    spec: { type: "object", properties },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
});
const integer = { type: "integer" };
const twoVersions = (storage: "v1" | "v2", v1: object = { size: integer }, v2: object = v1) =>
  definition({
    versions: [
      { name: "v1", storage: storage === "v1", schema: sized(v1) },
      { name: "v2", storage: storage === "v2", schema: sized(v2) },
    ],
  });

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

async function define(body: object) {
  const answer = await server.request("POST", DEFINITIONS, { body });
  expect(answer.status, answer.text).toBe(201);
  await server.settle();
}

async function redefine(body: ReturnType<typeof definition>) {
  const { metadata } = await server.request("GET", DEFINITION);
  const next = { ...body, metadata: { ...body.metadata, resourceVersion: metadata.resourceVersion } };
  const answer = await server.request("PUT", DEFINITION, { body: next });
  expect(answer.status, answer.text).toBe(200);
  await server.settle();
}

const stored = async () => JSON.parse((await server.store.get(KEY))?.value.toString() ?? "null");

describe("versions that convert without a webhook", () => {
  it("are written in any and stored in one", async () => {
    await define(twoVersions("v1"));
    const created = await server.request("POST", V2, { body: widget("a", { size: 1 }, "v2") });
    expect([created.status, created.json]).toMatchObject([201, { apiVersion: "example.com/v2", spec: { size: 1 } }]);
    expect(await stored()).toMatchObject({ apiVersion: "example.com/v1", spec: { size: 1 } });
    const patched = await server.request("PATCH", `${V2}/a`, { body: { spec: { size: 2 } }, headers: MERGE });
    expect(patched.json).toMatchObject({ apiVersion: "example.com/v2", metadata: { generation: 2 } });
    expect((await server.request("GET", `${V1}/a`)).json).toMatchObject({
      apiVersion: "example.com/v1",
      spec: { size: 2 },
    });
  });

  it("are listed and watched in the version asked for", async () => {
    await define(twoVersions("v1"));
    const watch = await server.watch(`${V2}?watch=1`);
    await server.request("POST", V1, { body: widget("a", { size: 1 }) });
    await server.request("DELETE", `${V1}/a`);
    await server.request("POST", V1, { body: widget("b", { size: 1 }) });
    expect(await watch.seen()).toEqual(["ADDED a", "DELETED a", "ADDED b"]);
    expect(new Set(watch.events.map(({ object }) => object.apiVersion))).toEqual(new Set(["example.com/v2"]));
    const { json } = await server.request("GET", V2);
    expect(json).toMatchObject({ apiVersion: "example.com/v2", items: [{ apiVersion: "example.com/v2" }] });
    const selected = await server.request("GET", `${V2}?labelSelector=none`);
    expect(selected.list.items).toEqual([]);
  });

  it("show no field that a version does not have", async () => {
    await define(twoVersions("v1", { size: integer }, { length: integer }));
    await server.request("POST", V1, { body: widget("a", { size: 1 }) });
    expect((await server.request("GET", `${V2}/a`)).json.spec).toEqual({});
  });

  it("remember in managedFields who wrote in which", async () => {
    await define(twoVersions("v1"));
    await server.request("POST", `${V1}?fieldManager=one`, { body: widget("a", { size: 1 }) });
    const owners = async () =>
      ((await server.request("GET", `${V1}/a`)).metadata.managedFields ?? []).map(
        ({ manager, apiVersion, fieldsV1 }) => `${manager} ${apiVersion} ${JSON.stringify(fieldsV1)}`,
      );
    const body = widget("a", { size: 2 }, "v2");
    const conflict = await server.request("PATCH", `${V2}/a?fieldManager=two`, { body, headers: APPLY });
    expect(conflict.status).toBe(409);
    await server.request("PATCH", `${V2}/a?fieldManager=two&force=true`, { body, headers: APPLY });
    expect(await owners()).toEqual(['two example.com/v2 {"f:spec":{"f:size":{}}}', 'one example.com/v1 {"f:spec":{}}']);
    // What the applier gives up leaves nothing in the spec, which Kubernetes then takes for null.
    const nothing = widget("a", {}, "v2");
    const refused = await server.request("PATCH", `${V2}/a?fieldManager=two`, { body: nothing, headers: APPLY });
    expect(refused.json.message).toContain('spec: Invalid value: "null": spec in body must be of type object: "null"');
  });
});

describe("a definition that changes its mind", () => {
  it("about the stored version: objects follow when they are next written, even unchanged", async () => {
    await define(twoVersions("v1"));
    await server.request("POST", V1, { body: widget("a", { size: 1 }) });
    await redefine(twoVersions("v2"));
    expect((await stored()).apiVersion).toBe("example.com/v1");
    const { json, metadata } = await server.request("GET", `${V1}/a`);
    const written = await server.request("PUT", `${V1}/a`, { body: json });
    expect((await stored()).apiVersion).toBe("example.com/v2");
    expect(Number(written.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
    const again = await server.request("PUT", `${V1}/a`, { body: written.json });
    expect(again.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    const { json: after } = await server.request("GET", DEFINITION);
    expect(after.status).toMatchObject({ storedVersions: ["v1", "v2"] });
  });

  it("about defaults: what is there shows them at once, in every way of reading", async () => {
    await define(twoVersions("v1"));
    await server.request("POST", V1, { body: widget("a", {}) });
    const withDefault = { size: { type: "integer", default: 7 } };
    await redefine(twoVersions("v1", withDefault));
    const spec = { size: 7 };
    expect((await server.request("GET", `${V1}/a`)).json).toMatchObject({ spec });
    expect((await server.request("GET", V1)).json).toMatchObject({ items: [{ spec }] });
    const watch = await server.watch(`${V1}?watch=1`);
    expect(await watch.seen()).toEqual(["ADDED a"]);
    expect(watch.events[0]?.object).toMatchObject({ spec });
    expect((await stored()).spec).toEqual({});
    await server.request("PATCH", `${V1}/a`, { body: {}, headers: MERGE });
    expect((await stored()).spec).toEqual(spec);
  });

  it("about fields: what has no place any more is not shown", async () => {
    await define(twoVersions("v1", { size: integer, old: integer }));
    await server.request("POST", V1, { body: widget("a", { size: 1, old: 2 }) });
    await redefine(twoVersions("v1"));
    expect((await server.request("GET", `${V1}/a`)).json.spec).toEqual({ size: 1 });
  });
});
