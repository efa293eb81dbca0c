import { afterEach, describe, expect, it } from "vitest";
import { configMap, type RequestOptions, type TestServerOptions } from "../testing/index.ts";
import { type AuditedServer, auditedServer, keeping } from "./testing.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const _QUOTAS = "/api/v1/namespaces/default/resourcequotas";
const _quota = (name: string) => ({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name } });
const rules = (text: string) => `{kind: Policy, apiVersion: audit.k8s.io/v1, rules: [${text}]}`;
const ALL = rules("{level: RequestResponse}");
const METADATA = rules("{level: Metadata}");

const running: AuditedServer[] = [];
afterEach(async () => {
  for (const { server } of running.splice(0)) await server.close();
});
async function start(policy: string, options?: TestServerOptions, sink?: ReturnType<typeof keeping>) {
  const audited = await auditedServer(policy, options, sink);
  running.push(audited);
  return audited;
}

describe("stages", () => {
  it("of a request that is answered at once", async () => {
    const { server, stages } = await start(METADATA);
    await server.request("GET", CONFIG_MAPS);
    expect(stages()).toEqual(["RequestReceived", "ResponseComplete 200"]);
  });

  it.each([METADATA, ALL])("tell the decision, also one without a reason: %s", async (policy) => {
    const { server, events } = await start(policy);
    await server.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const before = events.length;
    for (const _ of [1, 2]) await server.request("GET", `${CONFIG_MAPS}/x`);
    const decision = { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" };
    const told = events.slice(before).map(({ annotations }) => annotations);
    expect(told).toEqual([undefined, decision, undefined, decision]);
  });

  it("of one that is refused", async () => {
    const { server, stages } = await start(METADATA);
    await server.request("GET", CONFIG_MAPS, { user: { name: "jane", groups: [] } });
    expect(stages()).toEqual(["RequestReceived", "ResponseComplete 403"]);
  });

  it("of a watch", async () => {
    const { server, stages } = await start(METADATA);
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`);
    expect(stages()).toEqual(["RequestReceived", "ResponseStarted 200"]);
    await watch.close();
    expect(stages()).toEqual(["ResponseComplete 200"]);
  });

  it("of a watch that nobody opens", async () => {
    const { server, stages } = await start(METADATA);
    const gone = new AbortController();
    await server.handle({
      method: "GET",
      path: CONFIG_MAPS,
      query: new URLSearchParams("watch=1"),
      headers: {},
      user: { name: "admin", groups: ["system:masters"] },
      body: async () => Buffer.alloc(0),
      signal: gone.signal,
    });
    await server.settle();
    expect(stages()).toEqual(["RequestReceived", "ResponseStarted 200", "ResponseComplete 200"]);
  });

  it("of a request with which something goes wrong that nobody expected", async () => {
    const { server, stages, events } = await start(METADATA, {
      steps: {
        fairness: () => {
          throw new Error("a mistake");
        },
      },
    });
    expect((await server.request("GET", CONFIG_MAPS)).status).toBe(500);
    expect(stages()).toEqual(["RequestReceived", "Panic 500"]);
    expect(events.at(-1)?.responseStatus).toMatchObject({ message: "APIServer panic'd: a mistake" });
  });

  it("of somebody whom nobody knows", async () => {
    const { server, stages, events } = await start(ALL);
    const answer = await server.request("GET", CONFIG_MAPS, { user: null, headers: { authorization: "Bearer x" } });
    expect([answer.status, answer.headers["audit-id"]]).toEqual([401, "id-0"]);
    expect(stages()).toEqual(["ResponseStarted 401"]);
    expect(events[0]).toMatchObject({ user: {}, verb: "list", responseStatus: { reason: "Unauthorized" } });
  });

  it("that are left out", async () => {
    const { server, stages } = await start(rules("{level: Metadata, omitStages: [RequestReceived]}"));
    await server.request("GET", CONFIG_MAPS);
    expect(stages()).toEqual(["ResponseComplete 200"]);
  });
});

describe("levels", () => {
  const create: RequestOptions = { body: configMap("a", { k: "v" }) };
  it.each<[string, readonly string[]]>([
    ["None", []],
    ["Metadata", []],
    ["Request", ["requestObject"]],
    ["RequestResponse", ["requestObject", "responseObject"]],
  ])("%s", async (level, want) => {
    const { server, events } = await start(rules(`{level: ${level}, omitStages: [RequestReceived]}`));
    await server.request("POST", CONFIG_MAPS, create);
    expect(events.map(({ level }) => level)).toEqual(level === "None" ? [] : [level]);
    const [event = {}] = events;
    expect(["requestObject", "responseObject"].filter((field) => field in event)).toEqual(want);
  });

  it("show the object as it was sent, and as it was answered", async () => {
    const { server, events } = await start(ALL);
    await server.request("POST", CONFIG_MAPS, create);
    await server.request("GET", `${CONFIG_MAPS}/a`, { headers: { accept: "application/yaml" } });
    await server.request("GET", `${CONFIG_MAPS}/a`, { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    await server.request("GET", `${CONFIG_MAPS}/a?pretty=true`);
    const [created, ...read] = events.filter(({ stage }) => stage === "ResponseComplete");
    expect(created).toMatchObject({
      objectRef: { resource: "configmaps", namespace: "default", name: "a", apiVersion: "v1" },
      requestObject: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { k: "v" } },
      responseObject: { metadata: { name: "a", uid: expect.any(String), managedFields: expect.any(Array) } },
    });
    expect(read.map(({ responseObject }) => responseObject)).toEqual(Array(3).fill(created?.responseObject));
  });

  it("show patches and options as they came", async () => {
    const { server, events } = await start(ALL);
    await server.request("POST", CONFIG_MAPS, create);
    await server.request("PATCH", `${CONFIG_MAPS}/a`, {
      body: '{"data": {"k": "w"}}',
      headers: { "content-type": "application/merge-patch+json" },
    });
    await server.request("PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, {
      body: "apiVersion: v1\nkind: ConfigMap\ndata: {m: z}\n",
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    await server.request("DELETE", `${CONFIG_MAPS}/a`, { body: { kind: "DeleteOptions", gracePeriodSeconds: 0 } });
    const sent = events.filter(({ stage }) => stage === "ResponseComplete").map(({ requestObject }) => requestObject);
    expect(sent.slice(1)).toEqual([
      { data: { k: "w" } },
      { apiVersion: "v1", kind: "ConfigMap", data: { m: "z" } },
      { kind: "DeleteOptions", gracePeriodSeconds: 0 },
    ]);
  });

  it("may leave out who owns which field", async () => {
    const { server, events } = await start(rules("{level: RequestResponse, omitManagedFields: true}"));
    await server.request("POST", CONFIG_MAPS, create);
    await server.request("GET", CONFIG_MAPS);
    await server.request("GET", CONFIG_MAPS, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    expect(events.length).toBe(6);
    expect(JSON.stringify(events)).not.toContain("managedFields");
  });
});

describe("what an event says", () => {
  it("of the caller, and of whom it impersonates", async () => {
    const { server, events } = await start(METADATA);
    const user = { name: "admin", uid: "u1", groups: ["system:masters"], extra: { scopes: ["a"] } };
    await server.request("GET", `${CONFIG_MAPS}?limit=1`, {
      user,
      headers: { "impersonate-user": "bob", "x-forwarded-for": "1.2.3.4", "user-agent": `x${"y".repeat(2000)}` },
    });
    const [received, complete] = events;
    expect(received).toMatchObject({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      requestURI: `${CONFIG_MAPS}?limit=1`,
      user: {
        username: "admin",
        uid: "u1",
        groups: ["system:masters", "system:authenticated"],
        extra: { scopes: ["a"] },
      },
      sourceIPs: ["1.2.3.4", "127.0.0.1"],
      requestReceivedTimestamp: "2030-01-01T00:00:00.000000Z",
      stageTimestamp: "2030-01-01T00:00:00.000000Z",
    });
    expect(received).not.toHaveProperty("impersonatedUser");
    expect(complete).toMatchObject({
      user: { username: "admin" },
      impersonatedUser: { username: "bob", groups: ["system:authenticated"] },
      responseStatus: { status: "Failure", reason: "Forbidden", code: 403 },
      annotations: { "authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "" },
    });
    expect(String(complete?.userAgent)).toMatch(/^xy{1023}\.\.\.TRUNCATED$/);
  });

  it("of an object that says more of itself than its path", async () => {
    const { server, events } = await start(METADATA);
    const { metadata } = await server.request("POST", CONFIG_MAPS, { body: configMap("a") });
    const { uid = "", resourceVersion = "" } = metadata;
    await server.request("PUT", `${CONFIG_MAPS}/a`, { body: configMap("a", {}, { uid, resourceVersion }) });
    expect(events.at(-1)?.objectRef).toEqual({
      resource: "configmaps",
      namespace: "default",
      name: "a",
      uid,
      apiVersion: "v1",
      resourceVersion,
    });
  });

  it("keeps an id that the caller has chosen, and tells it", async () => {
    const { server, events } = await start(METADATA);
    const answers = [
      await server.request("GET", "/version", { headers: { "audit-id": "mine" } }),
      await server.request("GET", "/version"),
    ];
    expect(answers.map(({ headers }) => headers["audit-id"])).toEqual(["mine", "id-0"]);
    expect(events.map(({ auditID }) => auditID)).toEqual(["mine", "mine", "id-0", "id-0"]);
    expect(events[0]).not.toHaveProperty("objectRef");
  });

  it("with any letters", async () => {
    const { server, events } = await start(METADATA);
    await server.request("GET", "/version", { headers: { "user-agent": 'a"b\\c\u0001大' } });
    expect(events[0]?.userAgent).toBe('a"b\\c\u0001大');
  });
});

describe("requests that wait for their events", () => {
  it("are refused if they cannot be audited, where that is wanted", async () => {
    const { server, metrics } = await start(METADATA, {}, keeping("blocking-strict", false));
    const { status, text } = await server.request("POST", CONFIG_MAPS, { body: configMap("a") });
    expect([status, text]).toEqual([500, `Internal Server Error: "${CONFIG_MAPS}": failed to store audit event\n`]);
    expect(metrics.text()).toContain("apiserver_audit_requests_rejected_total 1");
    expect([...(server.resources.find("", "v1", "configmaps")?.cache.snapshot().values() ?? [])]).toEqual([]);
  });

  it("are answered all the same elsewhere", async () => {
    const { server } = await start(METADATA, {}, keeping("blocking", false));
    expect((await server.request("GET", CONFIG_MAPS)).status).toBe(200);
  });
});

it("counts events and levels", async () => {
  const { server, metrics } = await start(rules("{level: None, nonResourceURLs: ['*']}, {level: Metadata}"));
  await server.request("GET", CONFIG_MAPS);
  await server.request("GET", "/version");
  for (const line of [
    "apiserver_audit_event_total 2",
    'apiserver_audit_level_total{level="Metadata"} 1',
    'apiserver_audit_level_total{level="None"} 1',
  ])
    expect(metrics.text()).toContain(line);
});
