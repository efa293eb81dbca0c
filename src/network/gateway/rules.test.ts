import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import type { RequestInfo } from "../http/route.ts";
import { attach, type GatewaySources } from "./attach.ts";
import type {
  BackendReference,
  Gateway,
  HttpRoute,
  Listener,
  ObjectReference,
  ReferenceGrant,
  RouteRule,
} from "./kinds.ts";
import { GatewayRoutes } from "./rules.ts";
import { wantedStatuses } from "./status.ts";

const CONTROLLER = "k8ts.dev/gateway";

function gateway(...listeners: Partial<Listener>[]): Gateway {
  const made = listeners.map((listener, at) => ({ name: `l${at}`, port: 80, protocol: "HTTP", ...listener }));
  return { metadata: { name: "edge", namespace: "one" }, spec: { gatewayClassName: "k8ts", listeners: made } };
}

function route(name: string, hostnames: string[], rules: RouteRule[], namespace = "one"): HttpRoute {
  const parentRefs = [{ name: "edge", namespace: "one" }];
  return { metadata: { name, namespace, generation: 1 }, spec: { parentRefs, hostnames, rules } };
}

function sources(edge: Gateway, ...routes: HttpRoute[]): GatewaySources {
  return {
    classes: [{ metadata: { name: "k8ts" }, spec: { controllerName: CONTROLLER } }],
    gateways: [edge],
    routes,
    namespaces: new Map([
      ["one", {}],
      ["two", { team: "red" }],
    ]),
    ports: new Map([
      [80, "HTTP"],
      [443, "HTTPS"],
    ]),
    controller: CONTROLLER,
    grants: [],
    has: (_, key) => !key.endsWith("/ghost"),
  };
}

const to = (name: string, weight?: number) => ({ name, port: 80, ...(weight !== undefined && { weight }) });
const prefix = (value: string) => ({ path: { type: "PathPrefix", value } });
const like = (value: string) => ({ type: "RegularExpression", value });
const exact = (value: string) => ({ path: { type: "Exact", value } });

const ROUTES = [
  route(
    "shop",
    ["shop.example.org"],
    [
      { matches: [prefix("/")], backendRefs: [to("root")] },
      { matches: [prefix("/api")], backendRefs: [to("api")] },
      { matches: [exact("/api")], backendRefs: [to("exact")] },
      { matches: [{ ...prefix("/api"), method: "POST" }], backendRefs: [to("writer")] },
      { matches: [{ ...prefix("/api"), headers: [{ name: "X-Canary", value: "yes" }] }], backendRefs: [to("canary")] },
      { matches: [{ queryParams: [{ name: "v", value: "2" }] }], backendRefs: [to("second")] },
      { matches: [{ path: like("/v[0-9]+/.*") }], backendRefs: [to("versions")] },
      { matches: [{ headers: [{ name: "X-Team", ...like("red|blue") }] }], backendRefs: [to("teams")] },
      { matches: [{ queryParams: [{ name: "q", ...like("a+") }] }], backendRefs: [to("searched")] },
    ],
  ),
  route("wild", ["*.example.org"], [{ backendRefs: [to("wild")] }]),
  route("all", [], [{ backendRefs: [to("all")] }]),
];

describe("HTTPRoutes", () => {
  it.each([
    ["the longest prefix counts", {}, "api"],
    ["of whole elements", { path: "/apix" }, "root"],
    ["an exact path before it", { path: "/api" }, "exact"],
    ["a method before none", { method: "POST" }, "writer"],
    ["a header before none", { headers: { "x-canary": "yes" } }, "canary"],
    ["a header has to be the very same", { headers: { "x-canary": "no" } }, "api"],
    ["a parameter before none", { path: "/", query: "?v=2" }, "second"],
    ["a regular expression before a prefix", { path: "/v12/api" }, "versions"],
    ["which has to match all of it", { path: "/a/v12/api" }, "root"],
    ["of headers", { path: "/", headers: { "x-team": "blue" } }, "teams"],
    ["which have to be there", { path: "/", headers: {} }, "root"],
    ["of parameters", { path: "/", query: "?q=aaa" }, "searched"],
    ["whose whole value counts", { path: "/", query: "?q=aab" }, "root"],
    ["a host with its port", { host: "SHOP.example.org:80" }, "api"],
    ["wildcards stand for one label or more", { host: "a.b.example.org" }, "wild"],
    ["but not for none", { host: "example.org" }, "all"],
    ["a port that nobody listens at", { port: 443 }, undefined],
  ] as const)("%s", (_, changes: Partial<RequestInfo>, service) => {
    const { routes } = attach(sources(gateway({}), ...ROUTES));
    const table = new GatewayRoutes(routes, seededRandom(1));
    const asked = { port: 80, host: "shop.example.org", path: "/api/x", query: "", method: "GET", headers: {} };
    expect(table.find({ ...asked, ...changes })?.backend?.service).toBe(service && `one/${service}`);
  });

  it("share requests by weight; what leads to no Service is refused", () => {
    const rule = { backendRefs: [to("a", 3), to("b", 1), to("none", 0), { name: "c", kind: "Bucket", weight: 4 }] };
    const table = new GatewayRoutes(attach(sources(gateway({}), route("r", [], [rule]))).routes, seededRandom(1));
    const counts = new Map<string, number>();
    for (let turn = 0; turn < 8000; turn++) {
      const asked = { port: 80, host: "x", path: "/", query: "", method: "GET", headers: {} };
      const name = table.find(asked)?.backend?.service ?? "refused";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect(Math.round((counts.get("one/a") ?? 0) / 1000)).toBe(3);
    expect(Math.round((counts.get("one/b") ?? 0) / 1000)).toBe(1);
    expect(Math.round((counts.get("refused") ?? 0) / 1000)).toBe(4);
    expect(counts.size).toBe(3);
  });
});

describe("references", () => {
  const grant = (kind: string, name?: string): ReferenceGrant => ({
    metadata: { name: "g", namespace: "two" },
    spec: {
      from: [
        { group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "one" },
        { group: "gateway.networking.k8s.io", kind: "Gateway", namespace: "one" },
      ],
      to: [{ group: "", kind, ...(name !== undefined && { name }) }],
    },
  });
  const far = { name: "a", namespace: "two", port: 80 };
  it.each<[string, BackendReference, ReferenceGrant[], string, string | undefined]>([
    ["to what is there", to("a"), [], "ResolvedRefs", "one/a"],
    ["to nothing", to("ghost"), [], "BackendNotFound", undefined],
    ["to another kind", { name: "a", kind: "Bucket" }, [], "InvalidKind", undefined],
    ["to another group", { name: "a", group: "multicluster.x-k8s.io", kind: "Service" }, [], "InvalidKind", undefined],
    ["without a port", { name: "a" }, [], "UnsupportedValue", undefined],
    ["to another Namespace", far, [], "RefNotPermitted", undefined],
    ["to another Namespace that allows it", far, [grant("Service")], "ResolvedRefs", "two/a"],
    ["that allows this one", far, [grant("Service", "a")], "ResolvedRefs", "two/a"],
    ["that allows another one", far, [grant("Service", "b")], "RefNotPermitted", undefined],
    ["that allows another kind", far, [grant("Secret")], "RefNotPermitted", undefined],
    ["that allows it, to nothing", { ...far, name: "ghost" }, [grant("Service")], "BackendNotFound", undefined],
  ])("of routes %s", (_, reference, grants, reason, service) => {
    const given = route("r", [], [{ backendRefs: [reference] }]);
    const { parents, routes } = attach({ ...sources(gateway({}), given), grants });
    expect(parents.get(given)?.[0]).toMatchObject({ accepted: { status: "True" }, resolved: { reason } });
    const asked = { port: 80, host: "x", path: "/", query: "", method: "GET", headers: {} };
    const found = new GatewayRoutes(routes, seededRandom(1)).find(asked);
    expect(found?.backend?.service).toBe(service);
    // As it is documented: what leads nowhere is answered with 500.
    if (service === undefined) expect(found?.changes?.answer).toEqual({ status: 500 });
  });

  it.each<[string, ObjectReference, ReferenceGrant[], string, string[]]>([
    ["to what is there", { name: "tls" }, [], "ResolvedRefs", ["one/tls"]],
    ["to nothing", { name: "ghost" }, [], "InvalidCertificateRef", []],
    ["to another kind", { name: "tls", kind: "ConfigMap" }, [], "InvalidCertificateRef", []],
    ["to another Namespace", { name: "tls", namespace: "two" }, [], "RefNotPermitted", []],
    ["that allows it", { name: "tls", namespace: "two" }, [grant("Secret")], "ResolvedRefs", ["two/tls"]],
  ])("of listeners %s", (_, reference, grants, reason, secrets) => {
    const edge = gateway({ port: 443, protocol: "HTTPS", tls: { certificateRefs: [reference] } });
    const seen = attach({ ...sources(edge), grants });
    expect(seen.gateways.get(edge)?.[0]?.resolved.reason).toBe(reason);
    expect(seen.certificates.map(({ secret }) => secret)).toEqual(secrets);
    const context = { addresses: [], controller: CONTROLLER, now: "2030-01-01T00:00:00Z" };
    const status = wantedStatuses(seen, context).gateways[0]?.status as Gateway["status"];
    const conditions = status?.listeners?.[0]?.conditions ?? [];
    const programmed = conditions.find(({ type }) => type === "Programmed");
    expect(programmed?.status).toBe(secrets.length > 0 ? "True" : "False");
  });

  it("kinds of routes that are not served", () => {
    const edge = gateway({ allowedRoutes: { kinds: [{ kind: "TLSRoute" }] } });
    expect(attach(sources(edge)).gateways.get(edge)?.[0]?.resolved.reason).toBe("InvalidRouteKinds");
  });
});

describe("listeners", () => {
  const one = route("r", ["shop.example.org"], [{ backendRefs: [to("a")] }]);
  const away = route("r", ["shop.example.org"], [{ backendRefs: [to("a")] }], "two");
  const from = (namespaces: NonNullable<Listener["allowedRoutes"]>["namespaces"]) => ({
    allowedRoutes: { ...(namespaces !== undefined && { namespaces }) },
  });
  it.each([
    ["serve what names them", gateway({}), one, "Accepted", ["shop.example.org"]],
    [
      "with a wildcard the host of the route",
      gateway({ hostname: "*.example.org" }),
      one,
      "Accepted",
      ["shop.example.org"],
    ],
    [
      "and nothing without a common host",
      gateway({ hostname: "a.test" }),
      one,
      "NoMatchingListenerHostname",
      undefined,
    ],
    ["of their own Namespace", gateway({}), away, "NotAllowedByListeners", undefined],
    ["of all", gateway(from({ from: "All" })), away, "Accepted", ["shop.example.org"]],
    [
      "of chosen ones",
      gateway(from({ from: "Selector", selector: { matchLabels: { team: "red" } } })),
      away,
      "Accepted",
      ["shop.example.org"],
    ],
    ["but not at other ports", gateway({ port: 8080 }), one, "NotAllowedByListeners", undefined],
    [
      "nor what they cannot do",
      gateway({}),
      route("r", [], [{ filters: [{ type: "ExtensionRef" }] }]),
      "UnsupportedValue",
      undefined,
    ],
  ])("%s", (_, edge, given, reason, hosts) => {
    const { parents, routes } = attach(sources(edge, given));
    expect(parents.get(given)?.[0]?.accepted.reason).toBe(reason);
    expect(routes[0]?.hosts).toEqual(hosts);
  });

  it("are told of in their Gateways and routes, once", () => {
    const edge = gateway({}, { name: "odd", port: 1 });
    const context = { addresses: ["192.0.2.1"], controller: CONTROLLER, now: "2030-01-01T00:00:00Z" };
    const { gateways, routes, classes } = wantedStatuses(attach(sources(edge, one)), context);
    expect(classes).toHaveLength(1);
    expect(gateways[0]?.status).toMatchObject({
      addresses: [{ value: "192.0.2.1" }],
      conditions: [
        { type: "Accepted", status: "True" },
        { type: "Programmed", status: "True" },
      ],
      listeners: [
        { attachedRoutes: 1, conditions: [{ status: "True" }, { status: "True" }, { type: "ResolvedRefs" }] },
        { attachedRoutes: 0, conditions: [{ reason: "PortUnavailable" }, { status: "False" }, { status: "True" }] },
      ],
    });
    const written = { ...one, status: routes[0]?.status as NonNullable<HttpRoute["status"]> };
    const later = { ...context, now: "2031-01-01T00:00:00Z" };
    expect(wantedStatuses(attach(sources(edge, written)), later).routes).toEqual([]);
  });
});
