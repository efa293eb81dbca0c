/** APIServices: those that the server keeps, those that lead to others, and what discovery and OpenAPI say of them. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "#api";
import {
  type AggregatedServer,
  API_SERVICES,
  aggregatedServer,
  BASE,
  type ExtensionServer,
  FLUNDERS,
  GROUP,
  type Mood,
  NAME,
  VERSION,
} from "./testing/index.ts";

/** However busy the machine is. */
const eventually = <T>(read: () => T) => expect.poll(read, { interval: 20 });

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MERGE = { "content-type": "application/merge-patch+json" };

let server: AggregatedServer;
beforeEach(async () => {
  server = await aggregatedServer();
});
afterEach(() => server.close());

interface Item extends JsonObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: Record<string, string> };
  readonly spec: JsonObject;
}

async function apiServices(): Promise<readonly Item[]> {
  return (await server.ask("GET", API_SERVICES)).json.items as readonly Item[];
}

async function find(name: string): Promise<Item | undefined> {
  return (await apiServices()).find(({ metadata }) => metadata.name === name);
}

/** Of the group in the aggregated list: its versions. */
async function discovered(group = GROUP): Promise<JsonObject | undefined> {
  const { json } = await server.ask("GET", "/apis", { headers: { accept: AGGREGATED } });
  const items = json.items as readonly (JsonObject & { metadata: JsonObject; versions: readonly JsonObject[] })[];
  return items.find(({ metadata }) => metadata.name === group)?.versions[0];
}

/** What is the case when the server's time has moved on. */
async function later<T>(ms: number, read: () => Promise<T>): Promise<T> {
  await server.clock.advance(ms);
  return read();
}

async function groupNames(): Promise<readonly string[]> {
  const { json } = await server.ask("GET", "/apis");
  return (json.groups as readonly { name: string }[]).map(({ name }) => name);
}

const definition = (versions: readonly string[], group = GROUP) => ({
  metadata: { name: `flunders.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "flunders", singular: "flunder", kind: "Flunder", listKind: "FlunderList" },
    versions: versions.map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    })),
  },
});

describe("what this server serves itself", () => {
  it("has an APIService each, as of the start", async () => {
    const all = await apiServices();
    expect(all.length).toBeGreaterThan(20);
    expect(all.map(({ metadata }) => metadata.labels)).toEqual(
      all.map(() => ({ "kube-aggregator.kubernetes.io/automanaged": "onstart" })),
    );
    // Its own group is served whatever APIServices say.
    expect(all.map(({ metadata }) => metadata.name)).not.toContain("v1.apiregistration.k8s.io");
    expect(await find("v2.autoscaling")).toMatchObject({
      metadata: { managedFields: [{ manager: "kube-apiserver", operation: "Update" }] },
      spec: { group: "autoscaling", version: "v2", groupPriorityMinimum: 17500, versionPriority: 30 },
      status: {
        conditions: [
          { type: "Available", status: "True", reason: "Local", message: "Local APIServices are always available" },
        ],
      },
    });
    expect(await find("v1.")).toMatchObject({
      spec: { version: "v1", groupPriorityMinimum: 18000, versionPriority: 1 },
    });
  });

  it("is left alone once it is there", async () => {
    await server.ask("DELETE", `${API_SERVICES}/v1.batch`);
    await server.ask("PATCH", `${API_SERVICES}/v1.apps`, { body: { spec: { versionPriority: 3 } }, headers: MERGE });
    await server.ask("POST", DEFINITIONS, { body: definition(["v1"]) });
    await eventually(() => find(`v1.${GROUP}`)).toBeDefined();
    expect(await find("v1.batch")).toBeUndefined();
    expect(await find("v1.apps")).toMatchObject({ spec: { versionPriority: 3 } });
    expect((await server.ask("GET", "/apis/batch/v1/jobs")).status).toBe(200);
  });

  it("stands where its APIService puts it", async () => {
    const before = await groupNames();
    const body = { spec: { groupPriorityMinimum: 19_000 } };
    await server.ask("PATCH", `${API_SERVICES}/v1.batch`, { body, headers: MERGE });
    const others = before.filter((name) => name !== "batch");
    await eventually(groupNames).toEqual([others[0], "batch", ...others.slice(1)]);
  });

  it("comes and goes with definitions", async () => {
    await server.ask("POST", DEFINITIONS, { body: definition(["v1", "v1beta1"]) });
    await eventually(() => find(`v1beta1.${GROUP}`)).toMatchObject({
      metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": "true" } },
      spec: { group: GROUP, version: "v1beta1", groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [{ reason: "Local" }] },
    });
    // What is kept is put back, and put right.
    const uid = (await find(`v1.${GROUP}`))?.metadata.uid;
    await server.ask("DELETE", `${API_SERVICES}/v1.${GROUP}`);
    await eventually(async () => (await find(`v1.${GROUP}`))?.metadata.uid ?? uid).not.toBe(uid);
    await server.ask("PATCH", `${API_SERVICES}/v1.${GROUP}`, {
      body: { spec: { versionPriority: 3 } },
      headers: MERGE,
    });
    await eventually(() => find(`v1.${GROUP}`)).toMatchObject({ spec: { versionPriority: 100 } });
    await server.ask("DELETE", `${DEFINITIONS}/flunders.${GROUP}`);
    await eventually(() => find(`v1.${GROUP}`)).toBeUndefined();
    await eventually(() => find(`v1beta1.${GROUP}`)).toBeUndefined();
  });
});

describe("whether an extension server is there", () => {
  it("follows the Service and its endpoints", async () => {
    const extension = await server.extension();
    await server.register(extension);
    await eventually(() => server.available()).toBe("True Passed");
    const services = "/api/v1/namespaces/default/services";
    await server.ask("DELETE", `${services}/wardle`);
    await eventually(() => server.available()).toBe("False ServiceNotFound");
    expect(await server.ask("GET", FLUNDERS)).toMatchObject({ status: 503, text: "service unavailable\n" });
    const ports = [{ name: "https", port: extension.port }];
    await server.ask("POST", services, { body: { metadata: { name: "wardle" }, spec: { ports } } });
    await eventually(() => server.available()).toBe("False EndpointsNotFound");
    const slice = {
      metadata: { name: "wardle-1", labels: { "kubernetes.io/service-name": "wardle" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: false } }],
      ports: [{ name: "https", port: 1 }],
    };
    const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    await server.ask("POST", slices, { body: slice });
    await eventually(() => server.available()).toBe("False MissingEndpoints");
    await server.ask("DELETE", `${slices}/wardle-1`);
    await eventually(() => server.available()).toBe("False EndpointsNotFound");
    await server.ask("PATCH", `${API_SERVICES}/${NAME}`, { body: { spec: { service: { port: 1 } } }, headers: MERGE });
    await eventually(() => server.available()).toBe("False ServicePortError");
    expect(server.metrics.text()).toContain(`aggregator_unavailable_apiservice{name="${NAME}"} 1`);
    expect(server.metrics.text()).toMatch(/aggregator_unavailable_apiservice_total\{.*ServiceNotFound"\} 1/);
  });

  it.each<{ mood: Mood; message: RegExp }>([
    { mood: "fails", message: /^failing or missing response from (https:.*): bad status from \1: 500$/ },
    { mood: "redirects", message: /: bad status from https:.*: 302$/ },
    { mood: "hangs", message: /: Get "https:.*v1alpha1": context deadline exceeded \(Client.Timeout exceeded/ },
  ])("is asked: it $mood", async ({ mood, message }) => {
    const extension = await server.extension();
    extension.state.mood = mood;
    await server.register(extension);
    await eventually(() => extension.seen.length).toBeGreaterThan(0);
    // While it is waited for, others are served.
    expect((await server.ask("GET", "/api/v1/namespaces")).status).toBe(200);
    if (mood === "hangs") await server.clock.advance(5_000);
    await eventually(() => server.available()).toBe("False FailedDiscoveryCheck");
    const { json } = await server.ask("GET", `${API_SERVICES}/${NAME}`);
    expect((json.status as { conditions: { message: string }[] }).conditions[0]?.message).toMatch(message);
    extension.state.mood = "well";
    // It is asked again after a while.
    await eventually(() => later(1_000, server.available)).toBe("True Passed");
    expect((await server.ask("GET", FLUNDERS)).status).toBe(200);
  });

  it("is noticed when it goes away without a word", async () => {
    const extension = await server.extension();
    await server.register(extension);
    await eventually(() => server.available()).toBe("True Passed");
    await extension.close();
    await eventually(() => later(30_000, server.available)).toBe("False FailedDiscoveryCheck");
  });
});

describe("what is said of an extension server", () => {
  let extension: ExtensionServer;
  beforeEach(async () => {
    extension = await server.extension();
  });

  it.each([{ older: false }, { older: true }])("in discovery, from its own (older: $older)", async ({ older }) => {
    extension.state.older = older;
    await server.register(extension);
    await eventually(() => discovered()).toMatchObject({ freshness: "Current" });
    const responseKind = older
      ? { group: "", version: "", kind: "Flunder" }
      : { group: GROUP, version: VERSION, kind: "Flunder" };
    expect(await discovered()).toEqual({
      version: VERSION,
      freshness: "Current",
      resources: [
        {
          resource: "flunders",
          responseKind,
          scope: "Namespaced",
          singularResource: "flunder",
          verbs: ["create", "get", "list", "watch"],
          shortNames: ["fl"],
          subresources: [{ subresource: "status", responseKind, verbs: ["get"] }],
        },
      ],
    });
    expect((await server.ask("GET", `/apis/${GROUP}`)).json).toEqual({
      kind: "APIGroup",
      apiVersion: "v1",
      name: GROUP,
      versions: [{ groupVersion: `${GROUP}/${VERSION}`, version: VERSION }],
      preferredVersion: { groupVersion: `${GROUP}/${VERSION}`, version: VERSION },
    });
    expect((await server.ask("GET", "/")).json.paths).toContain(BASE);
  });

  it("is marked as stale while it does not answer, or makes no sense", async () => {
    await server.register(extension);
    await eventually(() => discovered()).toMatchObject({ freshness: "Current" });
    extension.state.mood = "garbage";
    await eventually(() => later(60_000, discovered)).toEqual({ version: VERSION, freshness: "Stale" });
    expect(await groupNames()).toContain(GROUP);
    expect((await server.ask("GET", "/openapi/v2")).status).toBe(200);
    extension.state.mood = "well";
    await eventually(() => later(60_000, discovered)).toMatchObject({ freshness: "Current", resources: [{}] });
    await server.ask("DELETE", "/api/v1/namespaces/default/services/wardle");
    await eventually(() => discovered()).toEqual({ version: VERSION, freshness: "Stale" });
  });

  it("stands where its priority puts it, and goes with the APIService", async () => {
    await server.register(extension, { groupPriorityMinimum: 17_799 });
    await eventually(groupNames).toContain(GROUP);
    const names = await groupNames();
    expect(names.indexOf(GROUP)).toBe(names.indexOf("apps") + 1);
    await server.ask("DELETE", `${API_SERVICES}/${NAME}`);
    await eventually(groupNames).not.toContain(GROUP);
    expect(await server.ask("GET", BASE)).toMatchObject({ status: 404, text: "404 page not found\n" });
  });

  it("in OpenAPI: version 3 is its own, version 2 is merged", async () => {
    await server.register(extension);
    const index = async () => (await server.ask("GET", "/openapi/v3")).json.paths as JsonObject;
    await eventually(async () => (await index())[BASE.slice(1)]).toEqual({
      serverRelativeURL: `/openapi/v3${BASE}?hash=ABC`,
    });
    expect(await index()).toMatchObject({
      version: { serverRelativeURL: expect.stringContaining("/openapi/v3/version?") },
    });
    const document = await server.ask("GET", `/openapi/v3${BASE}?hash=ABC`);
    expect(document).toMatchObject({ status: 200, headers: { "x-served-by": "wardle" } });
    await eventually(async () => (await server.ask("GET", "/openapi/v2")).text).toContain("wardle.Flunder");
    const v2 = (await server.ask("GET", "/openapi/v2")).json as Record<string, JsonObject>;
    expect(v2.paths?.[`${BASE}/flunders`]).toMatchObject({ get: { operationId: "listFlunders" } });
    expect(v2.definitions).not.toHaveProperty(["wardle.Other"]);
    expect(v2.paths?.["/version/"]).toMatchObject({ get: { operationId: "getCodeVersion" } });
  });

  it("wins over a definition of the same version, which is there again afterwards", async () => {
    await server.register(extension);
    await eventually(() => discovered()).toMatchObject({ freshness: "Current" });
    await server.ask("POST", DEFINITIONS, { body: definition([VERSION, "v1"]) });
    await eventually(() => find(`v1.${GROUP}`)).toBeDefined();
    // The user's own APIService stays, and with it the way to the extension server.
    expect((await find(NAME))?.spec.service).toBeDefined();
    expect((await server.ask("GET", FLUNDERS)).headers["x-served-by"]).toBe("wardle");
    expect((await server.ask("GET", `/apis/${GROUP}/v1/flunders`)).headers["x-served-by"]).toBeUndefined();
    await server.ask("DELETE", `${API_SERVICES}/${NAME}`);
    await eventually(() => find(NAME)).toMatchObject({ spec: { groupPriorityMinimum: 1000, versionPriority: 100 } });
    expect(await server.ask("GET", FLUNDERS)).toMatchObject({ status: 200, json: { kind: "FlunderList", items: [] } });
    await eventually(async () => JSON.stringify(await discovered())).toContain('"deletecollection"');
    expect((await server.ask("GET", `/openapi/v3${BASE}`)).headers["x-served-by"]).toBeUndefined();
  });
});
