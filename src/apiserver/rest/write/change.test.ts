import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configMap, deployment, namespace, type TestServer, testServer } from "../../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const X = `${CONFIG_MAPS}/x`;
const MERGE = { "content-type": "application/merge-patch+json" };

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());
const get = (path: string) => server.request("GET", path);
const post = (path: string, body: object) => server.request("POST", path, { body });
const put = (path: string, body: object | string) => server.request("PUT", path, { body });
const patch = (path: string, body: object | string, headers: Record<string, string> = MERGE) =>
  server.request("PATCH", path, { body, headers });

describe("update", () => {
  it("replaces the object, and keeps what is the server's", async () => {
    const created = await post(CONFIG_MAPS, configMap("x", { a: "1" }, { labels: { l: "1" } }));
    await server.clock.advance(5_000);
    const { status, json } = await put(X, configMap("x", { b: "2" }));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      data: { b: "2" },
      metadata: { uid: created.metadata.uid, creationTimestamp: "2030-01-01T00:00:00Z", resourceVersion: "2" },
    });
    expect(json.metadata).not.toHaveProperty("labels");
  });

  it("that changes nothing keeps the resourceVersion, and nobody is told", async () => {
    const created = await post(CONFIG_MAPS, configMap("x", { a: "1" }));
    await server.clock.advance(60_000);
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=1`);
    const answers = [
      await put(X, created.json),
      await put(X, configMap("x", { a: "1" })),
      await patch(X, {}),
      await patch(X, { data: { a: "1" } }),
    ];
    for (const { status, text } of answers) expect([status, text]).toEqual([200, created.text]);
    expect(await watch.seen()).toEqual([]);
  });

  it.each([
    {
      name: "an old resourceVersion",
      metadata: { resourceVersion: "1" },
      status: 409,
      message:
        'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
    },
    {
      name: "another uid",
      metadata: { uid: "other" },
      status: 409,
      message: /Precondition failed: UID in precondition: other, UID in object meta: /,
    },
    {
      name: "no number as resourceVersion",
      metadata: { resourceVersion: "abc" },
      status: 500,
      message: /strconv.ParseUint/,
    },
    {
      name: "another name",
      metadata: { name: "y" },
      status: 400,
      message: "the name of the object (y) does not match the name on the URL (x)",
    },
    {
      name: "another namespace",
      metadata: { namespace: "other" },
      status: 400,
      message: /does not match the namespace/,
    },
    { name: "a fault", metadata: { labels: { "a b": "" } }, status: 422, message: /metadata.labels/ },
    {
      name: "no name",
      metadata: { name: "" },
      status: 400,
      message: "the name of the object (x based on URL) was undeterminable: name must be provided",
    },
    {
      name: "a mark of deletion",
      metadata: { deletionTimestamp: "2001-01-01T00:00:00Z" },
      status: 422,
      message: /metadata.deletionTimestamp: Invalid value: .*: field is immutable/,
    },
  ])("refuses $name", async ({ metadata, status, message }) => {
    await post(CONFIG_MAPS, configMap("x"));
    await put(X, configMap("x", { a: "1" }));
    const { json } = await put(X, configMap("x", { a: "2" }, metadata));
    expect(json).toMatchObject({
      code: status,
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
    expect((await get(X)).json).toMatchObject({ data: { a: "1" }, metadata: { resourceVersion: "2" } });
  });

  it("that sends an empty list is validated as it was sent, although the list is not stored", async () => {
    const path = "/apis/resource.k8s.io/v1/resourceslices";
    const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
    const spec = { driver: "gpu.example.com", pool, allNodes: true, devices: [{ name: "d" }] };
    const body = { metadata: { name: "one" }, spec };
    expect((await server.request("POST", path, { body })).status).toBe(201);
    const { status, text } = await put(`${path}/one`, { ...body, spec: { ...spec, sharedCounters: [] } });
    expect({ status, text }).toEqual({ status: 422, text: expect.stringContaining("only one of") });
  });

  it("keeps the creationTimestamp, whatever is sent", async () => {
    const { metadata } = await post(CONFIG_MAPS, configMap("x"));
    const sent = { creationTimestamp: "2001-01-01T00:00:00Z" };
    const changed = await put(X, configMap("x", { a: "1" }, sent));
    expect(changed.metadata.creationTimestamp).toBe(metadata.creationTimestamp);
  });

  it("reports a fault of metadata as often as the server and the kind validate it", async () => {
    await post(CONFIG_MAPS, configMap("x"));
    const { json } = await put(X, configMap("x", {}, { labels: { "a b": "" } }));
    expect((json as { details: { causes: object[] } }).details.causes).toHaveLength(4);
  });

  it("without a resourceVersion is tried again on what somebody else has written", async () => {
    await post(CONFIG_MAPS, configMap("x"));
    const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => put(X, configMap("x", { i: String(i) }))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await get(X)).metadata.resourceVersion).toBe("6");
  });

  it("with a resourceVersion lets one of many win", async () => {
    const { metadata } = await post(CONFIG_MAPS, configMap("x"));
    const body = (i: number) => configMap("x", { i: String(i) }, { resourceVersion: metadata.resourceVersion });
    const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => put(X, body(i))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  it("of what is not there is 404, unless the kind lets it create", async () => {
    expect((await put(X, configMap("x"))).json).toMatchObject({ code: 404, message: 'configmaps "x" not found' });
    const lease = { metadata: { name: "x" }, spec: { holderIdentity: "me" } };
    expect((await put(`${LEASES}/x`, lease)).status).toBe(201);
    expect((await put(`${LEASES}/x`, { ...lease, metadata: { name: "x", resourceVersion: "1" } })).status).toBe(200);
  });

  it("must name a resourceVersion where the kind wants it", async () => {
    const lease = { metadata: { name: "x" }, spec: { holderIdentity: "me" } };
    await post(LEASES, lease);
    expect((await put(`${LEASES}/x`, lease)).json).toMatchObject({
      code: 422,
      message:
        'leases.coordination.k8s.io "x" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
  });

  it("as a dry run shows what would be, and changes nothing", async () => {
    await post(CONFIG_MAPS, configMap("x", { a: "1" }));
    const { status, json } = await put(`${X}?dryRun=All`, configMap("x", { a: "2" }));
    expect([status, json.data]).toEqual([200, { a: "2" }]);
    expect((await get(X)).json.data).toEqual({ a: "1" });
  });
});

describe("a patch that makes another thing of an object", () => {
  it.each([
    { body: { kind: "Secret" }, says: "illegal base64 data at input byte 0" },
    { body: { kind: "Secret", data: null }, says: "unable to decode /v1, Kind=Secret into *v1.ConfigMap" },
    { body: { kind: "Widget" }, says: 'no kind "Widget" is registered for version "v1" in scheme' },
  ])("$says", async ({ body, says }) => {
    await post(CONFIG_MAPS, configMap("x", { k: "v" }));
    const { status, json } = await patch(`${CONFIG_MAPS}/x`, body);
    expect(status).toBe(422);
    expect(json.message).toContain(says);
  });
});

describe("generation", () => {
  const path = `${DEPLOYMENTS}/d`;
  it.each([
    { name: "the spec", body: { spec: { replicas: 2 } }, want: 2 },
    { name: "a label", body: { metadata: { labels: { a: "1" } } }, want: 1 },
    { name: "the generation itself", body: { metadata: { generation: 7 } }, want: 1 },
    { name: "nothing", body: {}, want: 1 },
  ])("after a change of $name is $want", async ({ body, want }) => {
    await post(DEPLOYMENTS, deployment("d"));
    const answer = await patch(path, body);
    expect([answer.status, answer.metadata.generation]).toEqual([200, want]);
  });

  it("stays with writes to the status", async () => {
    await post(DEPLOYMENTS, deployment("d"));
    expect((await patch(`${path}/status`, { status: { replicas: 1 } })).metadata.generation).toBe(1);
  });
});

describe("the status", () => {
  const path = `${DEPLOYMENTS}/d`;
  const status = { replicas: 1, updatedReplicas: 1 };

  it("is changed by its subresource alone", async () => {
    await post(DEPLOYMENTS, deployment("d"));
    expect((await put(path, { ...deployment("d"), status })).json.status).toEqual({});
    expect((await put(`${path}/status`, { ...deployment("d"), status })).json.status).toEqual(status);
    expect((await put(path, deployment("d", 3))).json).toMatchObject({ status, spec: { replicas: 3 } });
  });

  it("is all that its subresource changes", async () => {
    await post(DEPLOYMENTS, deployment("d", 1, { labels: { a: "1" } }));
    const metadata = { labels: { a: "2" }, finalizers: ["example.com/f"] };
    const { json } = await put(`${path}/status`, { ...deployment("d", 9, metadata), status });
    expect(json.metadata).toMatchObject({ finalizers: ["example.com/f"] });
    expect(json).toMatchObject({ spec: { replicas: 1 }, metadata: { labels: { a: "1" } }, status });
  });

  it("is owned apart from the rest", async () => {
    await post(DEPLOYMENTS, deployment("d"));
    const { metadata } = await server.request("PUT", `${path}/status?fieldManager=controller`, {
      body: { ...deployment("d"), status },
    });
    expect(metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ["controller", "status"],
      ["test", undefined],
    ]);
  });

  it("is read like the object", async () => {
    await post(DEPLOYMENTS, deployment("d"));
    expect((await get(`${path}/status`)).text).toBe((await get(path)).text);
  });
});

describe("what is sent empty", () => {
  it("raises the generation of a network policy, and changes nothing else", async () => {
    const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "n" }, spec: {} };
    const { json } = await post(path, policy);
    const after = await patch(`${path}/n`, { spec: { egress: [] } });
    expect(after.json.spec).toEqual(json.spec);
    expect(after.metadata.generation).toBe(2);
    expect((await put(`${path}/n`, { ...policy, spec: { egress: [] } })).metadata.generation).toBe(3);
    expect((await put(`${path}/n`, policy)).metadata.generation).toBe(3);
  });

  it("is a change of an immutable config map", async () => {
    await post(CONFIG_MAPS, { ...configMap("x", { a: "1" }), immutable: true });
    expect((await patch(X, { data: { a: "1" } })).status).toBe(200);
    expect((await patch(X, { binaryData: {} })).json).toMatchObject({
      code: 422,
      details: { causes: [{ field: "binaryData" }] },
    });
  });
});

describe("patches", () => {
  const base = () => post(CONFIG_MAPS, configMap("x", { a: "1", b: "2" }));
  it.each([
    { type: "application/merge-patch+json", body: { data: { a: null, c: "3" } }, want: { b: "2", c: "3" } },
    { type: "application/strategic-merge-patch+json", body: { data: { a: null, c: "3" } }, want: { b: "2", c: "3" } },
    { type: "application/strategic-merge-patch+json", body: { data: { $patch: "replace", c: "3" } }, want: { c: "3" } },
    {
      type: "application/json-patch+json",
      body: [
        { op: "remove", path: "/data/a" },
        { op: "add", path: "/data/c", value: "3" },
      ],
      want: { b: "2", c: "3" },
    },
  ])("$type", async ({ type, body, want }) => {
    await base();
    const { status, json } = await patch(X, body, { "content-type": type });
    expect([status, json.data]).toEqual([200, want]);
  });

  it.each([
    { name: "no type", headers: {}, body: {}, status: 415, message: "415: Unsupported Media Type" },
    {
      name: "another type",
      headers: { "content-type": "application/json" },
      body: {},
      status: 415,
      message: "415: Unsupported Media Type",
    },
    { name: "no JSON", headers: MERGE, body: "{", status: 400, message: /^error decoding patch: / },
    { name: "no object", headers: MERGE, body: "[]", status: 400, message: /cannot unmarshal array/ },
    {
      name: "an old resourceVersion",
      headers: MERGE,
      body: { metadata: { resourceVersion: "7" } },
      status: 409,
      message: /the object has been modified/,
    },
    {
      name: "another name",
      headers: MERGE,
      body: { metadata: { name: "y" } },
      status: 400,
      message: "the name of the object (y) does not match the name on the URL (x)",
    },
    {
      name: "a test that fails",
      headers: { "content-type": "application/json-patch+json" },
      body: [{ op: "test", path: "/data/a", value: "9" }],
      status: 422,
      message: /rejected our request/,
    },
    {
      name: "a result that is not valid",
      headers: MERGE,
      body: { data: { "a b": "" } },
      status: 422,
      message: /data\[a b\]/,
    },
  ])("refuses $name", async ({ headers, body, status, message }) => {
    await base();
    const { json } = await patch(X, body, headers);
    expect(json).toMatchObject({
      code: status,
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
    expect((await get(X)).metadata.resourceVersion).toBe("1");
  });

  it("of many at once are all there in the end", async () => {
    await base();
    const names = ["p", "q", "r", "s", "t"];
    const answers = await Promise.all(names.map((name) => patch(X, { data: { [name]: "1" } })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(Object.keys((await get(X)).json.data as object)).toEqual(["a", "b", ...names]);
  });

  it("of what is not there are 404", async () => {
    expect((await patch(X, {})).status).toBe(404);
  });
});

describe("apply", () => {
  const APPLY = { "content-type": "application/apply-patch+yaml" };
  const apply = (path: string, body: object | string) => patch(path, body, APPLY);
  const owners = (managedFields: readonly { manager?: string; operation?: string }[] | undefined) =>
    (managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);

  it("creates, changes, and takes away what was applied before", async () => {
    const first = await apply(`${X}?fieldManager=me`, configMap("x", { a: "1", b: "2" }));
    expect([first.status, owners(first.metadata.managedFields)]).toEqual([201, ["me Apply"]]);
    const second = await apply(`${X}?fieldManager=me`, "kind: ConfigMap\napiVersion: v1\ndata: {b: '3'}\n");
    expect([second.status, second.json.data]).toEqual([200, { b: "3" }]);
  });

  it("that changes nothing keeps the resourceVersion", async () => {
    const first = await apply(`${X}?fieldManager=me`, configMap("x", { a: "1" }));
    await server.clock.advance(60_000);
    expect((await apply(`${X}?fieldManager=me`, configMap("x", { a: "1" }))).text).toBe(first.text);
  });

  it("does not create what has a uid, whoever asks", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "gone", uid: "u-1" } };
    const { status, json } = await patch(`${CONFIG_MAPS}/gone?fieldManager=me`, body, APPLY);
    expect([status, json.reason, json.message]).toEqual([
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "gone": uid mismatch: the provided object specified uid u-1, and no existing object was found',
    ]);
    expect((await get(`${CONFIG_MAPS}/gone`)).status).toBe(404);
  });

  it("does not take what others own, unless it is forced", async () => {
    await post(`${CONFIG_MAPS}?fieldManager=them`, configMap("x", { a: "1" }));
    const refused = await apply(`${X}?fieldManager=me`, configMap("x", { a: "2" }));
    expect(refused.json).toMatchObject({
      code: 409,
      reason: "Conflict",
      details: {
        causes: [
          {
            reason: "FieldManagerConflict",
            field: ".data.a",
            message: expect.stringContaining('conflict with "them"'),
          },
        ],
      },
    });
    const forced = await apply(`${X}?fieldManager=me&force=true`, configMap("x", { a: "2" }));
    expect([forced.status, forced.json.data]).toEqual([200, { a: "2" }]);
    expect(owners(forced.metadata.managedFields)).toContain("me Apply");
  });

  it("shares a field with whoever wants the same", async () => {
    await apply(`${X}?fieldManager=one`, configMap("x", { a: "1" }));
    const { metadata } = await apply(`${X}?fieldManager=two`, configMap("x", { a: "1" }));
    expect(owners(metadata.managedFields).sort()).toEqual(["one Apply", "two Apply"]);
    // What one gives up stays, because two still wants it.
    expect((await apply(`${X}?fieldManager=one`, configMap("x"))).json.data).toEqual({ a: "1" });
  });

  it.each([
    { name: "no field manager", url: X, body: configMap("x"), status: 422 },
    { name: "another name", url: `${X}?fieldManager=me`, body: configMap("y"), status: 400 },
    { name: "no YAML", url: `${X}?fieldManager=me`, body: "a: [", status: 400 },
    { name: "no object", url: `${X}?fieldManager=me`, body: "- 1", status: 400 },
  ])("refuses $name", async ({ url, body, status }) => {
    expect((await apply(url, body)).status).toBe(status);
    expect((await get(X)).status).toBe(404);
  });

  describe("of a key that is there twice", () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: '1'\n  a: '2'\n";
    const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}';
    const fault = (line: number) =>
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line ${line}: key "a" already set in map`;

    it.each([
      { name: "YAML, Strict", body: yaml, validation: "Strict", want: fault(7) },
      { name: "JSON, Strict", body: json, validation: "Strict", want: fault(1) },
      // Its words have two lines, and no header can.
      { name: "YAML, Warn", body: yaml, validation: "Warn", want: { a: "2" } },
      { name: "JSON, Ignore", body: json, validation: "Ignore", want: { a: "2" } },
    ])("$name", async ({ body, validation, want }) => {
      const { json, headers } = await apply(`${X}?fieldManager=me&fieldValidation=${validation}`, body);
      expect(json.code === undefined ? json.data : json.message).toEqual(want);
      expect(headers.warning ?? []).toEqual([]);
    });
  });
});

describe("field managers", () => {
  it.each([
    { name: "the query's", query: "?fieldManager=me", agent: "curl/8", want: "me" },
    { name: "the user agent's first part", query: "", agent: "kubectl/v1.36 (linux)", want: "kubectl" },
  ])("are called by $name", async ({ query, agent, want }) => {
    const { metadata } = await server.request("POST", CONFIG_MAPS + query, {
      body: configMap("x", { a: "1" }),
      headers: { "user-agent": agent },
    });
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual([want]);
  });
});

describe("other parts", () => {
  it("of a namespace: finalize changes the finalizers of the spec", async () => {
    await post("/api/v1/namespaces", namespace("n"));
    expect((await get("/api/v1/namespaces/n")).json.spec).toEqual({ finalizers: ["kubernetes"] });
    await put("/api/v1/namespaces/n", { ...namespace("n"), spec: { finalizers: [] } });
    expect((await get("/api/v1/namespaces/n")).json.spec).toEqual({ finalizers: ["kubernetes"] });
    const { status, json } = await put("/api/v1/namespaces/n/finalize", {
      ...namespace("n"),
      spec: { finalizers: ["example.com/x"] },
    });
    expect([status, json.spec]).toEqual([200, { finalizers: ["example.com/x"] }]);
  });

  it("of a deployment: scale", async () => {
    await post(DEPLOYMENTS, deployment("d", 2));
    const path = `${DEPLOYMENTS}/d/scale`;
    expect((await get(path)).json).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 0, selector: "app=d" },
    });
    expect((await patch(path, { spec: { replicas: 5 } })).json).toMatchObject({ spec: { replicas: 5 } });
    expect((await put(path, { metadata: { name: "d", namespace: "default" }, spec: { replicas: 3 } })).status).toBe(
      200,
    );
    expect((await get(`${DEPLOYMENTS}/d`)).json).toMatchObject({ spec: { replicas: 3 }, metadata: { generation: 3 } });
    expect((await patch(path, { spec: { replicas: -1 } })).status).toBe(422);
    expect((await put(path, { metadata: { name: "e" }, spec: { replicas: 3 } })).json).toMatchObject({
      code: 400,
      message: "the name of the object (e) does not match the name on the URL (d)",
    });
    expect((await patch(path, { metadata: { resourceVersion: "1" }, spec: { replicas: 1 } })).status).toBe(409);
  });

  it("of a deployment: scale, applied", async () => {
    await post(`${DEPLOYMENTS}?fieldManager=maker`, deployment("d", 2));
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 3 } };
    const apply = (query: string) =>
      patch(`${DEPLOYMENTS}/d/scale?fieldManager=scaler${query}`, scale, {
        "content-type": "application/apply-patch+yaml",
      });
    expect((await apply("")).json).toMatchObject({
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
    });
    expect((await apply("&force=true")).json).toMatchObject({ kind: "Scale", spec: { replicas: 3 } });
    const { metadata } = await get(`${DEPLOYMENTS}/d`);
    const [scaler, maker] = metadata.managedFields ?? [];
    expect(scaler).toMatchObject({
      manager: "scaler",
      operation: "Apply",
      apiVersion: "apps/v1",
      subresource: "scale",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    });
    expect(maker?.manager).toBe("maker");
    expect(JSON.stringify(maker?.fieldsV1)).not.toContain("f:replicas");
  });
});
