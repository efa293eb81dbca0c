import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { attach, type GatewaySources } from "./attach.ts";
import type { Gateway, HttpRoute, Listener, RouteRule } from "./kinds.ts";
import { type Asked, GatewayRoutes } from "./rules.ts";
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
  };
}

const to = (name: string, weight?: number) => ({ name, port: 80, ...(weight !== undefined && { weight }) });
const prefix = (value: string) => ({ path: { type: "PathPrefix", value } });
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
    ["a host with its port", { host: "SHOP.example.org:80" }, "api"],
    ["wildcards stand for one label or more", { host: "a.b.example.org" }, "wild"],
    ["but not for none", { host: "example.org" }, "all"],
    ["a port that nobody listens at", { port: 443 }, undefined],
  ] as const)("%s", (_, changes: Partial<Asked>, service) => {
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
      route("r", [], [{ filters: [{ type: "RequestMirror" }] }]),
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
        { attachedRoutes: 1, conditions: [{ status: "True" }, { status: "True" }] },
        { attachedRoutes: 0, conditions: [{ reason: "PortUnavailable" }, { status: "False" }] },
      ],
    });
    const told = { ...one, status: routes[0]?.status as NonNullable<HttpRoute["status"]> };
    const later = { ...context, now: "2031-01-01T00:00:00Z" };
    expect(wantedStatuses(attach(sources(edge, told)), later).routes).toEqual([]);
  });
});
