import { afterEach, describe, expect, it } from "vitest";
import { tooManyRequests } from "#api";
import { createLogger, VirtualClock } from "#base";
import { ALLOW } from "../authz/verdict.ts";
import {
  configMap,
  deployment,
  type RequestOptions,
  type TestServer,
  type TestServerOptions,
  testServer,
} from "../testing/index.ts";
import type { Step } from "./compose.ts";
import type { Authenticated } from "./exchange.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer(options);
  servers.push(server);
  return server;
}

describe("the timeout of a request", () => {
  const invalid = (why: string) => `400 invalid timeout specified in the request URL - time: ${why}`;
  it.each([
    { timeout: "invalid", want: invalid('invalid duration "invalid"') },
    { timeout: "5", want: invalid('missing unit in duration "5"') },
    { timeout: "5q", want: invalid('unknown unit "q" in duration "5q"') },
    { timeout: "", want: "200 " },
    { timeout: "0s", want: "200 " },
    { timeout: "3h", want: "200 " },
  ])("'$timeout'", async ({ timeout, want }) => {
    const server = await start();
    const { status, json } = await server.request("GET", `${CONFIG_MAPS}?timeout=${timeout}`);
    expect(`${status} ${json.message ?? ""}`).toBe(want);
  });
});

describe("requests that nothing answers", () => {
  const status = (code: number, reason: string, message: string) => ({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    details: {},
    code,
  });
  const missing = status(404, "NotFound", "the server could not find the requested resource");
  const method = status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  const cases: { request: string; options?: RequestOptions; want: object }[] = [
    { request: "GET /api/v1/namespaces/default/unicorns", want: missing },
    { request: "GET /api/v9/pods", want: missing },
    { request: "GET /apis/apps/v9/deployments", want: missing },
    { request: `GET ${CONFIG_MAPS}/x/status`, want: missing },
    { request: "GET /api/v1/namespaces/default/nodes", want: missing },
    { request: "GET /api/v1/configmaps/x", want: missing },
    { request: "PUT /api/v1/configmaps/x", want: missing },
    { request: `PUT ${CONFIG_MAPS}`, want: method },
    { request: `PATCH ${CONFIG_MAPS}`, want: method },
    { request: `POST ${CONFIG_MAPS}/x`, want: method },
    { request: "POST /api/v1/configmaps", want: method },
    { request: `POST ${DEPLOYMENTS}/x/status`, want: method },
    { request: `DELETE ${DEPLOYMENTS}/x/scale`, want: method },
  ];
  it.each(cases)("$request", async ({ request, want }) => {
    const server = await start();
    await server.request("POST", DEPLOYMENTS, { body: deployment("x") });
    const [verb = "", path = ""] = request.split(" ");
    const answer = await server.request(
      verb,
      path,
      verb === "GET" || verb === "DELETE" ? {} : { body: configMap("x") },
    );
    expect(answer.json).toEqual(want);
    expect(answer.status).toBe((want as { code: number }).code);
  });

  it.each(["/unknown", "/apis/nobody.example.com/v1/things", "/apis/nobody.example.com/v1"])(
    "%s is no page",
    async (path) => {
      const { status: code, headers, text } = await (await start()).request("GET", path);
      expect([code, headers["content-type"], text]).toEqual([404, "text/plain; charset=utf-8", "404 page not found\n"]);
    },
  );
});

describe("forms", () => {
  const errors: { name: string; method: string; path: string; options: RequestOptions; want: object }[] = [
    {
      name: "Accept of nothing known",
      method: "GET",
      path: CONFIG_MAPS,
      options: { headers: { accept: "text/html" } },
      want: { code: 406, reason: "NotAcceptable" },
    },
    {
      name: "a table in protobuf",
      method: "GET",
      path: CONFIG_MAPS,
      options: {
        headers: { accept: "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;q=0" },
      },
      want: { code: 406 },
    },
    {
      name: "a body of nothing known",
      method: "POST",
      path: CONFIG_MAPS,
      options: { body: "x", headers: { "content-type": "text/plain" } },
      want: {
        code: 415,
        reason: "UnsupportedMediaType",
        message:
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      },
    },
    {
      name: "a body beyond the limit",
      method: "POST",
      path: CONFIG_MAPS,
      options: { body: Buffer.alloc(3 * 1024 * 1024 + 1, 0x20) },
      want: { code: 413, reason: "RequestEntityTooLarge", message: "Request entity too large: limit is 3145728" },
    },
    {
      name: "metadata of a list, of one object",
      method: "GET",
      path: `${CONFIG_MAPS}/x`,
      options: { headers: { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" } },
      want: { code: 406 },
    },
  ];
  it.each(errors)("$name", async ({ method, path, options, want }) => {
    const server = await start();
    await server.request("POST", CONFIG_MAPS, { body: configMap("x") });
    const { status, bytes } = await server.request(method, path, options);
    expect(status).toBe((want as { code: number }).code);
    if (bytes[0] === 0x7b) expect(JSON.parse(bytes.toString())).toMatchObject(want);
  });

  it.each([
    { type: "application/yaml", body: "metadata:\n  name: x\ndata: {a: '1'}\n" },
    { type: "application/json; charset=utf-8", body: '{"metadata":{"name":"x"},"data":{"a":"1"}}' },
    { type: "", body: '{"metadata":{"name":"x"},"data":{"a":"1"}}' },
  ])("a body as '$type' is read", async ({ type, body }) => {
    const server = await start();
    const { status, json } = await server.request("POST", CONFIG_MAPS, {
      body,
      headers: type === "" ? {} : { "content-type": type },
    });
    expect([status, json.data]).toEqual([201, { a: "1" }]);
  });

  it("protobuf that was answered can be sent again", async () => {
    const server = await start();
    const type = "application/vnd.kubernetes.protobuf";
    await server.request("POST", CONFIG_MAPS, { body: configMap("x", { a: "1" }) });
    const { bytes, headers } = await server.request("GET", `${CONFIG_MAPS}/x`, { headers: { accept: type } });
    expect([headers["content-type"], bytes.subarray(0, 4).toString("latin1")]).toEqual([type, "k8s\0"]);
    const again = await server.request("PUT", `${CONFIG_MAPS}/x`, { body: bytes, headers: { "content-type": type } });
    expect([again.status, again.metadata.resourceVersion]).toEqual([200, "1"]);
  });

  it("errors come in the form that was asked for", async () => {
    const server = await start();
    const { headers, text } = await server.request("GET", `${CONFIG_MAPS}/x`, {
      headers: { accept: "application/yaml" },
    });
    expect([headers["content-type"], text.includes("reason: NotFound")]).toEqual(["application/yaml", true]);
  });
});

describe("who asks", () => {
  const tokens = new Map([
    ["root", { name: "root", groups: ["system:masters"] }],
    ["ann", { name: "ann", groups: [] }],
  ]);
  it.each([
    { authorization: "Bearer root", status: 200 },
    {
      authorization: "Bearer ann",
      status: 403,
      message:
        'configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"',
    },
    { authorization: "Bearer nobody", status: 401, message: "Unauthorized" },
    {
      authorization: undefined,
      status: 403,
      message:
        'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    },
  ])("$authorization: $status", async ({ authorization, status, message }) => {
    const server = await start({ tokens });
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await server.request("GET", CONFIG_MAPS, { user: null, headers });
    expect(answer.status).toBe(status);
    if (message !== undefined) expect(answer.json).toMatchObject({ message, code: status });
  });
});

describe("steps", () => {
  it("run in their order, around the answer", async () => {
    const order: string[] = [];
    const step =
      <E extends Authenticated>(name: string): Step<E> =>
      async (exchange, next) => {
        order.push(`${name} ${exchange.info.verb} ${exchange.user.name}`);
        const answer = await next(exchange);
        order.push(`${name} ${answer.status}`);
        return answer;
      };
    const server = await start({
      steps: {
        audit: step("audit"),
        fairness: step("fairness"),
        authorize: () => {
          order.push("authorize");
          return ALLOW;
        },
      },
    });
    await server.request("GET", CONFIG_MAPS);
    expect(order).toEqual(["audit list admin", "fairness list admin", "authorize", "fairness 200", "audit 200"]);
  });

  it("may refuse, and say when to come again", async () => {
    const server = await start({
      steps: {
        fairness: async () => {
          throw tooManyRequests("too many requests, please try again later", 3);
        },
      },
    });
    const { status, headers, json } = await server.request("GET", CONFIG_MAPS);
    expect([status, headers["retry-after"], json.reason]).toEqual([429, "3", "TooManyRequests"]);
  });

  it("that fail are answered with 500, and the reason stays in the log", async () => {
    const lines: string[] = [];
    const log = createLogger({
      write: (line) => lines.push(line),
      format: "json",
      level: "error",
      clock: new VirtualClock(),
    });
    const server = await start({
      log,
      steps: {
        audit: async () => {
          throw new Error("secret");
        },
      },
    });
    const { status, text, json } = await server.request("GET", CONFIG_MAPS);
    expect([status, json.reason, text.includes("secret")]).toEqual([500, "InternalError", false]);
    expect(lines.join()).toContain("secret");
  });
});

describe("warnings", () => {
  it("are said once each, also with an error", async () => {
    const server = await start({
      admission: {
        mutate: async ({ warn }) => {
          warn('a "quoted" one');
          warn('a "quoted" one');
          warn("another");
        },
        validate: async () => {
          throw tooManyRequests("no", 1);
        },
      },
    });
    const { status, headers } = await server.request("POST", CONFIG_MAPS, { body: configMap("x") });
    expect([status, headers.warning]).toEqual([429, ['299 - "a \\"quoted\\" one"', '299 - "another"']]);
  });
});

describe("other paths", () => {
  it.each([
    { path: "/version", want: { gitVersion: expect.stringMatching(/^v1\.\d+\.\d+\+k8ts/) } },
    { path: "/", want: { paths: expect.arrayContaining(["/api", "/api/v1", "/apis", "/apis/apps/v1", "/version"]) } },
    { path: "/api", want: { kind: "APIVersions", versions: ["v1"] } },
    { path: "/apis/apps", want: { kind: "APIGroup", name: "apps" } },
    { path: "/api/v1", want: { kind: "APIResourceList", groupVersion: "v1" } },
  ])("GET $path", async ({ path, want }) => {
    const { status, json } = await (await start()).request("GET", path);
    expect(status).toBe(200);
    expect(json).toMatchObject(want);
  });

  it.each(["/version", "/api", "/apis/apps/v1"])("POST %s is not allowed", async (path) => {
    expect((await (await start()).request("POST", path, { body: "{}" })).status).toBe(405);
  });

  it("metrics are text", async () => {
    const { status, headers } = await (await start()).request("GET", "/metrics");
    expect([status, headers["content-type"]]).toEqual([200, expect.stringContaining("text/plain")]);
  });
});
