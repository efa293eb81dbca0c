/** Filters, as tables; and as requests of a client find them. */
import { get, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { Site } from "../http/testing/site.ts";
import { attach } from "./attach.ts";
import { changedPath, durationMs, locationOf, timeoutMs } from "./filters.ts";
import type { HttpRoute, Redirect, RouteFilter, RouteRule } from "./kinds.ts";
import { GatewayRoutes, problemOf } from "./rules.ts";

describe("paths that are changed", () => {
  const prefix = (value: string) => ({ path: { type: "PathPrefix", value } });
  const full = (replaceFullPath: string) => ({ type: "ReplaceFullPath", replaceFullPath });
  const part = (replacePrefixMatch: string) => ({ type: "ReplacePrefixMatch", replacePrefixMatch });
  // The rows about prefixes are those of the documentation.
  it.each([
    ["/foo/bar", prefix("/foo"), part("/xyz"), "/xyz/bar"],
    ["/foo/bar", prefix("/foo"), part("/xyz/"), "/xyz/bar"],
    ["/foo/bar", prefix("/foo/"), part("/xyz"), "/xyz/bar"],
    ["/foo/bar", prefix("/foo/"), part("/xyz/"), "/xyz/bar"],
    ["/foo", prefix("/foo"), part("/xyz"), "/xyz"],
    ["/foo/", prefix("/foo"), part("/xyz"), "/xyz/"],
    ["/foo/bar", prefix("/foo"), part(""), "/bar"],
    ["/foo/", prefix("/foo"), part(""), "/"],
    ["/foo", prefix("/foo"), part(""), "/"],
    ["/foo/", prefix("/foo"), part("/"), "/"],
    ["/foo", prefix("/foo"), part("/"), "/"],
    ["/foo/bar", {}, part("/xyz"), "/xyz/foo/bar"],
    ["/foo/bar", prefix("/foo"), full("/all"), "/all"],
    ["/foo", { path: { type: "Exact", value: "/foo" } }, part("/xyz"), "/foo"],
    ["/foo", prefix("/foo"), undefined, "/foo"],
  ])("%s", (path, match, change, want) => {
    expect(changedPath(change, path, match)).toBe(want);
  });
});

describe("redirects", () => {
  const asked = { port: 80, host: "a.test", path: "/x", query: "?q=1", method: "GET", headers: {} };
  it.each<[Redirect, object, string]>([
    [{}, {}, "http://a.test/x?q=1"],
    [{ scheme: "https" }, {}, "https://a.test/x?q=1"],
    [{ scheme: "https", port: 8443 }, {}, "https://a.test:8443/x?q=1"],
    [{ hostname: "b.test" }, {}, "http://b.test/x?q=1"],
    [{}, { host: "a.test:8080", port: 8080 }, "http://a.test:8080/x?q=1"],
    [{ scheme: "https" }, { host: "a.test:8080", port: 8080 }, "https://a.test/x?q=1"],
    [{ path: { type: "ReplaceFullPath", replaceFullPath: "/y" } }, {}, "http://a.test/y?q=1"],
  ])("%o", (redirect, changes, want) => {
    expect(locationOf(redirect, { ...asked, ...changes }, {}, "http")).toBe(want);
  });
});

describe("what is not served", () => {
  it.each<[string, RouteRule, boolean]>([
    ["nothing", {}, true],
    ["another filter", { filters: [{ type: "ExtensionRef" }] }, false],
    ["a redirect for one backend", { backendRefs: [{ name: "a", filters: [{ type: "RequestRedirect" }] }] }, false],
    [
      "a header that would be two",
      {
        filters: [
          { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "a", value: "b\r\nc: d" }] } },
        ],
      },
      false,
    ],
    ["a time that is none", { timeouts: { request: "soon" } }, false],
    ["an expression that is none", { matches: [{ path: { type: "RegularExpression", value: "(" } }] }, false],
    ["an unknown way to match", { matches: [{ path: { type: "Glob", value: "*" } }] }, false],
  ])("%s", (_, rule, isServed) => {
    expect(problemOf({ metadata: {}, spec: { rules: [rule] } }) === undefined).toBe(isServed);
  });

  it.each([
    ["10s", 10_000],
    ["1h30m", 5_400_000],
    ["500ms", 500],
    ["0s", 0],
    ["1.5s", undefined],
    ["", undefined],
  ])("durations: %s", (given, want) => {
    expect(durationMs(given)).toBe(want);
    expect(timeoutMs({ request: given })).toBe(want === 0 ? undefined : want);
  });
});

describe("requests through filters", () => {
  const site = new Site();
  const copies: string[] = [];
  let port = 0;
  beforeAll(async () => {
    const recording = await site.endpoint(async (asked, response) => {
      if (asked.url === "/slow") return;
      response.setHeader("x-server", "one").setHeader("x-kept", "yes");
      response.end(JSON.stringify({ url: asked.url, headers: asked.headers, body: await text(asked) }));
    });
    const copied = await site.endpoint(async (asked, response) => {
      copies.push(`${asked.method} ${asked.url} ${await text(asked)}`);
      response.end("nobody reads this");
    });
    site.put("web", recording);
    site.put("copy", copied);
    ({ http: port } = await site.start());
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const serve = (rule: Partial<RouteRule>, ...filters: RouteFilter[]) => {
    const rules = [
      {
        matches: [{ path: { type: "PathPrefix", value: "/in" } }],
        backendRefs: [{ name: "web", port: 80 }],
        filters,
        ...rule,
      },
    ];
    const route: HttpRoute = {
      metadata: { name: "r", namespace: "default" },
      spec: { parentRefs: [{ name: "g" }], rules },
    };
    const listeners = [{ name: "http", port, protocol: "HTTP" }];
    const seen = attach({
      classes: [{ metadata: { name: "k8ts" }, spec: { controllerName: "c" } }],
      gateways: [{ metadata: { name: "g", namespace: "default" }, spec: { gatewayClassName: "k8ts", listeners } }],
      routes: [route],
      namespaces: new Map(),
      ports: new Map([[port, "HTTP"]]),
      controller: "c",
      grants: [],
      has: () => true,
    });
    expect(seen.parents.get(route)?.[0]?.accepted.reason).toBe("Accepted");
    site.routeGateways(new GatewayRoutes(seen.routes, seededRandom(1)));
  };
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ port, path, headers: { host: "a.test", ...headers }, agent: false }, resolve).on("error", reject),
    );
    const body = await text(answer);
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  const seen = async (path: string, headers?: Record<string, string>) =>
    JSON.parse((await ask(path, headers)).body) as { url: string; headers: Record<string, string>; body: string };

  it("headers of the request, in both directions; those of the connection stay", async () => {
    serve(
      {},
      {
        type: "RequestHeaderModifier",
        requestHeaderModifier: {
          set: [
            { name: "X-Set", value: "new" },
            { name: "Connection", value: "upgrade" },
          ],
          add: [{ name: "X-Add", value: "2" }],
          remove: ["X-Remove"],
        },
      },
      {
        type: "ResponseHeaderModifier",
        responseHeaderModifier: {
          set: [{ name: "X-Server", value: "two" }],
          add: [{ name: "X-More", value: "1" }],
          remove: ["x-kept"],
        },
      },
    );
    const { headers } = await seen("/in", { "x-set": "old", "x-add": "1", "x-remove": "1" });
    expect([headers["x-set"], headers["x-add"], headers["x-remove"]]).toEqual(["new", "1, 2", undefined]);
    expect(headers.connection).not.toBe("upgrade");
    const { headers: answered } = await ask("/in");
    expect([answered["x-server"], answered["x-more"], answered["x-kept"]]).toEqual(["two", "1", undefined]);
  });

  it("a redirect", async () => {
    serve({}, { type: "RequestRedirect", requestRedirect: { scheme: "https", statusCode: 301 } });
    const { status, headers } = await ask("/in/x?y=1");
    expect([status, headers.location]).toEqual([301, "https://a.test/in/x?y=1"]);
  });

  it("another path and host for the endpoint", async () => {
    const path = { type: "ReplacePrefixMatch", replacePrefixMatch: "/out" };
    serve({}, { type: "URLRewrite", urlRewrite: { hostname: "b.test", path } });
    const { url, headers } = await seen("/in/x?y=1");
    expect([url, headers.host, headers["x-forwarded-host"]]).toEqual(["/out/x?y=1", "b.test", "a.test"]);
  });

  it("copies, with their bodies", async () => {
    serve({}, { type: "RequestMirror", requestMirror: { backendRef: { name: "copy", port: 80 } } });
    await ask("/in/a");
    const posted = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({ port, path: "/in/b", method: "POST", headers: { host: "a.test" }, agent: false }, resolve);
      sent.on("error", reject).end("x".repeat(100_000));
    });
    expect((JSON.parse(await text(posted)) as { body: string }).body).toHaveLength(100_000);
    await expect.poll(() => copies.map((each) => each.slice(0, 12).trim())).toEqual(["GET /in/a", "POST /in/b x"]);
    expect(copies[1]).toHaveLength(100_000 + "POST /in/b ".length);
  });

  it("filters of the backend that was chosen", async () => {
    const filters = [
      { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "x-of", value: "web" }] } },
    ];
    serve({ backendRefs: [{ name: "web", port: 80, filters }] });
    expect((await seen("/in")).headers["x-of"]).toBe("web");
  });

  it("no more time than the route gives", async () => {
    const path = { type: "ReplaceFullPath", replaceFullPath: "/slow" };
    serve({ timeouts: { request: "50ms" } }, { type: "URLRewrite", urlRewrite: { path } });
    expect((await ask("/in")).status).toBe(504);
  });
});
