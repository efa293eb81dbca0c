import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isStatusError } from "#api";
import { configMap, deployment, namespace, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const NAMESPACES = "/api/v1/namespaces";

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());
const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
  server.request("POST", path, { body, headers });

describe("create", () => {
  it("gives an object what every object has", async () => {
    const { status, json } = await post(CONFIG_MAPS, configMap("x", { k: "v" }));
    expect(status).toBe(201);
    expect(json).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {
        name: "x",
        namespace: "default",
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: "1",
        creationTimestamp: "2030-01-01T00:00:00Z",
        managedFields: [
          {
            manager: "test",
            operation: "Update",
            apiVersion: "v1",
            time: "2030-01-01T00:00:00Z",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": { ".": {}, "f:k": {} } },
          },
        ],
      },
      data: { k: "v" },
    });
  });

  it("takes nothing that is the server's to say", async () => {
    const said = {
      uid: "mine",
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 9,
      generation: 7,
    };
    const { metadata } = await post(DEPLOYMENTS, { ...deployment("x", 1, said), status: { replicas: 5 } });
    expect(metadata).toMatchObject({ creationTimestamp: "2030-01-01T00:00:00Z", generation: 1 });
    expect(metadata.uid).not.toBe("mine");
    expect(metadata).not.toHaveProperty("deletionTimestamp");
    expect(JSON.stringify(metadata.managedFields)).not.toMatch(/f:(deletion|creation|uid)/);
    const { json } = await server.request("GET", `${DEPLOYMENTS}/x`);
    expect(json.status).toEqual({});
  });

  it.each([
    ["5", "", 500],
    ["5", "?dryRun=All", 201],
    ["0", "", 201],
    ["x", "", 201],
  ])("of an object with the resourceVersion %j%s: %i", async (resourceVersion, query, want) => {
    const { status, json } = await post(CONFIG_MAPS + query, {
      ...configMap("x"),
      metadata: { name: "x", resourceVersion },
    });
    expect(status).toBe(want);
    if (want === 500) expect(json.message).toBe("resourceVersion should not be set on objects to be created");
  });

  it("can be read as soon as it is answered", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `x${i}`);
    const reads = names.map(async (name) => {
      await post(CONFIG_MAPS, configMap(name));
      const [one, all] = await Promise.all([
        server.request("GET", `${CONFIG_MAPS}/${name}`),
        server.request("GET", CONFIG_MAPS),
      ]);
      return one.status === 200 && all.list.names.includes(`default/${name}`);
    });
    expect(await Promise.all(reads)).toEqual(names.map(() => true));
  });

  it("lets one of many win", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(CONFIG_MAPS, configMap("x"))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const { json } = answers.find(({ status }) => status === 409) ?? expect.unreachable();
    expect(json).toMatchObject({
      reason: "AlreadyExists",
      message: 'configmaps "x" already exists',
      details: { name: "x", kind: "configmaps" },
    });
  });

  it.each([
    {
      name: "another namespace than the path's",
      path: CONFIG_MAPS,
      body: configMap("x", {}, { namespace: "other" }),
      status: 400,
      message: "the namespace of the provided object does not match the namespace sent on the request",
    },
    {
      name: "no name",
      path: CONFIG_MAPS,
      body: configMap(""),
      status: 422,
      message: /name or generateName is required/,
    },
    {
      name: "a bad name",
      path: CONFIG_MAPS,
      body: configMap("No"),
      status: 422,
      message: /^ConfigMap "No" is invalid: metadata.name: Invalid value: "No": a lowercase RFC 1123 subdomain/,
    },
    {
      name: "a bad label",
      path: CONFIG_MAPS,
      body: configMap("x", {}, { labels: { "a b": "" } }),
      status: 422,
      message: /metadata.labels/,
    },
    {
      name: "what the kind refuses",
      path: CONFIG_MAPS,
      body: configMap("x", { "a b": "" }),
      status: 422,
      message: /data\[a b\]/,
    },
    {
      name: "another kind",
      path: CONFIG_MAPS,
      body: deployment("x"),
      status: 400,
      message:
        'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
    },
    {
      name: "a kind that the version does not have",
      path: CONFIG_MAPS,
      body: '{"kind":"Deployment"}',
      status: 400,
      message:
        'Deployment in version "v1" cannot be handled as a ConfigMap: no kind "Deployment" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    },
    {
      name: "an apiVersion that is no text",
      path: CONFIG_MAPS,
      body: '{"apiVersion":5,"kind":[]}',
      status: 400,
      message: /json: cannot unmarshal number into Go struct field \.apiVersion of type string \(\{"apiVersion":5/,
    },
    { name: "null", path: CONFIG_MAPS, body: "null", status: 422, message: /name or generateName is required/ },
    {
      name: "nulls for type and name",
      path: CONFIG_MAPS,
      body: '{"apiVersion":null,"kind":null,"metadata":null}',
      status: 422,
      message: /name or generateName is required/,
    },
    { name: "no JSON", path: CONFIG_MAPS, body: "{", status: 400, message: /the object provided is unrecognized/ },
    { name: "nothing", path: CONFIG_MAPS, body: "", status: 400, message: /<empty>/ },
    {
      name: "a value of another type",
      path: CONFIG_MAPS,
      body: '{"metadata":{"name":1}}',
      status: 400,
      message: /cannot unmarshal number/,
    },
  ])("refuses $name", async ({ path, body, status, message }) => {
    const { json } = await post(path, body);
    expect(json).toMatchObject({
      kind: "Status",
      status: "Failure",
      code: status,
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
    expect((await server.request("GET", path)).list.items).toEqual([]);
  });

  it("ignores a namespace where there is none", async () => {
    const { metadata } = await post(NAMESPACES, namespace("x", { namespace: "y" }));
    expect([metadata.name, metadata.namespace]).toEqual(["x", undefined]);
  });

  it("says each fault with its field", async () => {
    const { json } = await post(CONFIG_MAPS, configMap("No"));
    expect(json).toMatchObject({
      reason: "Invalid",
      details: {
        name: "No",
        kind: "ConfigMap",
        causes: [
          {
            reason: "FieldValueInvalid",
            field: "metadata.name",
            message: expect.stringContaining('Invalid value: "No"'),
          },
        ],
      },
    });
  });
});

describe("generateName", () => {
  it("makes names that begin so", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(CONFIG_MAPS, configMap("", {}, { generateName: "job-" }))),
    );
    const names = answers.map(({ metadata }) => metadata.name ?? "");
    for (const name of names) expect(name).toMatch(/^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(names).size).toBe(20);
    expect(answers[0]?.metadata.generateName).toBe("job-");
  });

  it("tries another if a name is taken", async () => {
    const twin = await testServer();
    const { metadata } = await twin.request("POST", CONFIG_MAPS, { body: configMap("", {}, { generateName: "x-" }) });
    await twin.close();
    // The same chance gives the same first name; it is taken without chance being asked.
    const { context } = server;
    const resource = server.resources.find("", "v1", "configmaps") ?? expect.unreachable();
    await context.store.create(
      `${resource.cache.prefix}default/${metadata.name}`,
      Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${metadata.name}"}}`),
    );
    const second = await post(CONFIG_MAPS, configMap("", {}, { generateName: "x-" }));
    expect([second.status, second.metadata.name === metadata.name]).toEqual([201, false]);
  });

  it("gives way to a name", async () => {
    expect((await post(CONFIG_MAPS, configMap("x", {}, { generateName: "y-" }))).metadata.name).toBe("x");
  });
});

describe("dryRun", () => {
  it("answers as if, and stores nothing", async () => {
    const { status, metadata } = await post(`${CONFIG_MAPS}?dryRun=All`, configMap("x"));
    expect([status, metadata.name, metadata.uid === undefined, metadata.resourceVersion]).toEqual([
      201,
      "x",
      false,
      undefined,
    ]);
    expect((await server.request("GET", CONFIG_MAPS)).list).toMatchObject({
      items: [],
      metadata: { resourceVersion: "0" },
    });
  });

  it("refuses what would be refused", async () => {
    await post(CONFIG_MAPS, configMap("x"));
    expect((await post(`${CONFIG_MAPS}?dryRun=All`, configMap("x"))).status).toBe(409);
    expect((await post(`${CONFIG_MAPS}?dryRun=All`, configMap("No"))).status).toBe(422);
  });
});

describe("fieldValidation", () => {
  const body = '{"metadata":{"name":"x"},"dta":{},"data":{"a":"1","a":"2"}}';
  const faults = ['unknown field "dta"', 'duplicate field "data.a"'];
  it.each([
    { query: "", status: 201, warned: true },
    { query: "?fieldValidation=Warn", status: 201, warned: true },
    { query: "?fieldValidation=Ignore", status: 201, warned: false },
    { query: "?fieldValidation=Strict", status: 400, warned: false },
  ])("$query", async ({ query, status, warned }) => {
    const answer = await post(CONFIG_MAPS + query, body);
    expect(answer.status).toBe(status);
    const warnings = [answer.headers.warning ?? []].flat();
    expect(warnings.sort()).toEqual(warned ? faults.map((fault) => `299 - ${JSON.stringify(fault)}`).sort() : []);
    if (status === 400) {
      expect(answer.json.message).toMatch(
        /^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: /,
      );
      for (const fault of faults) expect(answer.json.message).toContain(fault);
    } else expect(answer.json.data).toEqual({ a: "2" });
  });
});

describe("admission", () => {
  it("may change an object before it is checked, and refuse it after", async () => {
    const seen: string[] = [];
    const strict = await testServer({
      admission: {
        mutate: async ({ operation, object }) => {
          seen.push(`mutate ${operation}`);
          Object.assign(object?.metadata ?? {}, { labels: { by: "admission" } });
        },
        validate: async ({ operation, object, warn }) => {
          seen.push(`validate ${operation} ${object?.metadata.labels?.by} ${object?.metadata.uid !== undefined}`);
          warn("be careful");
        },
      },
    });
    const { metadata, headers } = await strict.request("POST", CONFIG_MAPS, { body: configMap("x") });
    expect([metadata.labels, headers.warning]).toEqual([{ by: "admission" }, ['299 - "be careful"']]);
    expect(seen).toEqual(["mutate CREATE", "validate CREATE admission true"]);
    await strict.close();
  });
});

describe("a store that fails", () => {
  it("makes the write fail, in words that clients understand", async () => {
    await server.store.close();
    const { status, headers, json } = await post(CONFIG_MAPS, configMap("x"));
    expect([status, headers["retry-after"], json.reason]).toEqual([503, "1", "ServiceUnavailable"]);
    expect(isStatusError(json)).toBe(false);
  });
});
