/** The tables of the documentation of Ingress: hosts, paths and what counts before what. */
import { describe, expect, it } from "vitest";
import type { networking } from "#api";
import { isLoop, type Origin, requestHeaders, responseHeaders } from "../http/headers.ts";
import { requestPath } from "../http/request-path.ts";
import { servedHere } from "./classes.ts";
import { Routes } from "./routes.ts";

type PathType = networking.HTTPIngressPath["pathType"];

const backend = (name: string): networking.IngressBackend => ({ service: { name, port: { number: 80 } } });

function ingress(name: string, spec: networking.IngressSpec, createdAt = "2030-01-01T00:00:00Z"): networking.Ingress {
  return { metadata: { name, namespace: "default", creationTimestamp: createdAt }, spec };
}

/** `Prefix /foo → a`, for a host. */
function rule(host: string, ...paths: [PathType, string, string][]): networking.IngressRule {
  return {
    ...(host !== "" && { host }),
    http: { paths: paths.map(([pathType, path, service]) => ({ pathType, path, backend: backend(service) })) },
  };
}

function found(routes: Routes, host: string, path: string): string | undefined {
  return routes.find(host, path)?.backend?.service.split("/")[1];
}

describe("paths", () => {
  it.each<[PathType, string, string, boolean]>([
    ["Prefix", "/", "/any/path", true],
    ["Exact", "/foo", "/foo", true],
    ["Exact", "/foo", "/bar", false],
    ["Exact", "/foo", "/foo/", false],
    ["Exact", "/foo/", "/foo", false],
    ["Prefix", "/foo", "/foo", true],
    ["Prefix", "/foo", "/foo/", true],
    ["Prefix", "/foo/", "/foo", true],
    ["Prefix", "/foo/", "/foo/", true],
    ["Prefix", "/aaa/bb", "/aaa/bbb", false],
    ["Prefix", "/aaa/bbb", "/aaa/bbb", true],
    ["Prefix", "/aaa/bbb/", "/aaa/bbb", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbb/", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbb/ccc", true],
    ["Prefix", "/aaa/bbb", "/aaa/bbbxyz", false],
    ["Prefix", "/FOO", "/foo", false],
    ["ImplementationSpecific", "/foo", "/foo/bar", true],
    ["ImplementationSpecific", "", "/anything", true],
  ])("%s %s and %s: %s", (pathType, path, asked, want) => {
    const routes = Routes.of([ingress("i", { rules: [rule("", [pathType, path, "a"])] })]);
    expect(found(routes, "example.org", asked) === "a").toBe(want);
  });

  it.each([
    ["/", "root"],
    ["/aaa", "one"],
    ["/aaa/ccc", "one"],
    ["/aaa/bbb", "exact"],
    ["/aaa/bbb/", "two"],
    ["/aaa/bbb/ccc", "two"],
    ["/ccc", "root"],
  ])("of several the longest, then the exact one: %s → %s", (asked, want) => {
    const paths: [PathType, string, string][] = [
      ["Prefix", "/", "root"],
      ["Prefix", "/aaa", "one"],
      ["Prefix", "/aaa/bbb", "two"],
      ["Exact", "/aaa/bbb", "exact"],
    ];
    expect(found(Routes.of([ingress("i", { rules: [rule("", ...paths)] })]), "x", asked)).toBe(want);
  });

  it.each<[string, string | undefined]>([
    ["/a/b?c=../d", "/a/b?c=../d"],
    ["/public/../admin", "/admin"],
    ["/public/%2e%2E/admin?x", "/admin?x"],
    ["/.well-known/x", "/.well-known/x"],
    ["//a/../b", "//b"],
    ["/../../etc", "/etc"],
    ["http://other.example/a/b?c", "/a/b?c"],
    ["*", undefined],
    ["example.org:443", undefined],
  ])("%s is looked up as %s", (url, want) => {
    const asked = requestPath(url);
    expect(asked && asked.path + asked.query).toBe(want);
  });
});

describe("hosts", () => {
  const routes = Routes.of([
    ingress("i", {
      rules: [
        rule("foo.bar.com", ["Prefix", "/", "exact"]),
        rule("*.foo.com", ["Prefix", "/", "wild"]),
        rule("bar.foo.com", ["Prefix", "/only", "named"]),
        rule("", ["Prefix", "/any", "all"]),
      ],
    }),
  ]);
  it.each<[string, string, string | undefined]>([
    ["foo.bar.com", "/", "exact"],
    ["FOO.bar.COM:8080", "/", "exact"],
    ["foo.bar.com.", "/", "exact"],
    ["x.bar.com", "/", undefined],
    ["a.foo.com", "/", "wild"],
    ["a.b.foo.com", "/", undefined],
    ["foo.com", "/", undefined],
    [".foo.com", "/", undefined],
    ["bar.foo.com", "/only/this", "named"],
    ["bar.foo.com", "/else", "wild"],
    ["elsewhere", "/any", "all"],
    ["", "/any", "all"],
    ["[::1]:80", "/any", "all"],
    ["elsewhere", "/", undefined],
  ])("%s %s → %s", (host, path, want) => expect(found(routes, host, path)).toBe(want));
});

describe("local hosts", () => {
  const shop = ingress("shop", {
    rules: [rule("a.test", ["Prefix", "/", "a"]), rule("b.test", ["Prefix", "/b", "b"])],
  });
  const bare = ingress("bare", { defaultBackend: backend("bare") }, "2031-01-01T00:00:00Z");

  it("each Ingress has one, with the paths of all rules", () => {
    const routes = Routes.of([shop, bare], { localHosts: true });
    const at = (host: string, path: string) => found(routes, `${host}.default.localhost`, path);
    expect([at("shop", "/"), at("shop", "/b/x"), at("bare", "/"), found(routes, "a.test", "/b")]).toEqual([
      "a",
      "b",
      "bare",
      "a",
    ]);
    expect(routes.problems).toEqual([]);
    expect(found(Routes.of([shop]), "shop.default.localhost", "/")).toBeUndefined();
  });

  it("but not where another Ingress names the host", () => {
    const other = ingress("other", { rules: [rule("shop.default.localhost", ["Prefix", "/other", "other"])] });
    const routes = Routes.of([shop, other], { localHosts: true });
    expect(found(routes, "shop.default.localhost", "/")).toBeUndefined();
    expect(found(routes, "shop.default.localhost", "/other")).toBe("other");
  });
});

describe("default backends, conflicts and what cannot be served", () => {
  it("take what no path takes: of an Ingress with the host first, then of one without rules", () => {
    const routes = Routes.of([
      ingress("catch-all", { defaultBackend: backend("all") }, "2031-01-01T00:00:00Z"),
      ingress("a", {
        defaultBackend: backend("a-default"),
        rules: [rule("a.org", ["Exact", "/x", "a"]), { host: "b.org" }],
      }),
    ]);
    const asked = [
      ["a.org", "/x"],
      ["a.org", "/y"],
      ["b.org", "/"],
      ["c.org", "/"],
    ] as const;
    expect(asked.map(([host, path]) => found(routes, host, path))).toEqual(["a", "a-default", "a-default", "all"]);
  });

  it("the older Ingress has what two claim, and the other one hears of it", () => {
    const routes = Routes.of([
      ingress("new", { rules: [rule("a.org", ["Prefix", "/x", "new"])] }, "2031-01-01T00:00:00Z"),
      ingress("old", { rules: [rule("A.org", ["Prefix", "/x/", "old"])] }),
    ]);
    expect(found(routes, "a.org", "/x")).toBe("old");
    expect(routes.problems).toEqual([
      { ingress: "default/new", reason: "Conflict", message: "host a.org path /x belongs to default/old" },
    ]);
  });

  it("a backend that is no Service is taken, refused, and told", () => {
    const resource = { apiGroup: "k8s.example.com", kind: "Bucket", name: "b" };
    const routes = Routes.of([ingress("i", { defaultBackend: { resource } })]);
    expect(routes.find("x", "/")).toEqual({ owner: "default/i", backend: undefined });
    expect(routes.problems).toMatchObject([{ reason: "UnsupportedBackend" }]);
  });
});

describe("classes", () => {
  const own = { controller: "k8ts.dev/ingress", className: "k8ts" };
  const ingressClass = (name: string, controller: string, created?: string): networking.IngressClass => ({
    metadata: {
      name,
      ...(created !== undefined && {
        creationTimestamp: created,
        annotations: { "ingressclass.kubernetes.io/is-default-class": "true" },
      }),
    },
    spec: { controller },
  });
  const unnamed = ingress("i", {});
  const old = { ...unnamed, metadata: { ...unnamed.metadata, annotations: { "kubernetes.io/ingress.class": "k8ts" } } };
  it.each<[string, networking.IngressClass[], networking.Ingress, boolean]>([
    ["of this controller", [ingressClass("mine", own.controller)], ingress("i", { ingressClassName: "mine" }), true],
    ["of another", [ingressClass("k8ts", "other")], ingress("i", { ingressClassName: "k8ts" }), false],
    ["that does not exist", [], ingress("i", { ingressClassName: "k8ts" }), false],
    ["none, without a default", [ingressClass("k8ts", own.controller)], unnamed, false],
    ["none, with a default", [ingressClass("k8ts", own.controller, "2030")], unnamed, true],
    [
      "none, with a newer default of another",
      [ingressClass("k8ts", own.controller, "2030"), ingressClass("x", "other", "2031")],
      unnamed,
      false,
    ],
    ["by the annotation of old", [], old, true],
  ])("%s", (_, classes, given, want) => expect(servedHere(classes, own)(given)).toBe(want));
});

describe("headers", () => {
  const origin: Origin = { address: "192.0.2.9", protocol: "https", port: 443, host: "a.org", httpVersion: "2.0" };
  it("of the connection stay on it, also those that it names", () => {
    const given = { connection: "close, X-Hop", "x-hop": "1", te: "trailers", accept: "*/*", upgrade: "h2c" };
    expect(requestHeaders(given, origin, false)).toEqual({
      accept: "*/*",
      host: "a.org",
      via: "2.0 k8ts-ingress",
      "x-forwarded-for": "192.0.2.9",
      "x-forwarded-host": "a.org",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
      "x-real-ip": "192.0.2.9",
    });
    expect(responseHeaders({ "keep-alive": "timeout=5", "set-cookie": ["a=1", "b=2"] })).toEqual({
      "set-cookie": ["a=1", "b=2"],
    });
  });

  it.each([
    [false, "192.0.2.9", "https"],
    [true, "198.51.100.1, 192.0.2.9", "http"],
  ])("that say where a client comes from are believed: %s", (trusts, want, protocol) => {
    const given = { "x-forwarded-for": "198.51.100.1", "x-forwarded-proto": "http", connection: "x-forwarded-for" };
    const sent = requestHeaders(given, origin, trusts);
    expect([sent["x-forwarded-for"], sent["x-forwarded-proto"]]).toEqual([want, protocol]);
  });

  it("tell a request that goes in circles", () => {
    expect(isLoop({ via: "1.1 k8ts-ingress, 1.1 other" })).toBe(false);
    expect(isLoop({ via: Array(5).fill("1.1 k8ts-ingress").join(", ") })).toBe(true);
  });
});
