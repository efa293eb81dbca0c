/**
 * The core features of the published conformance profiles of the Gateway API, row by row: each has the name that the
 * project's suite gives it. The table of docs/gateway-conformance.md is written from the rows.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import type { RequestInfo } from "../http/route.ts";
import { attach, type GatewaySources } from "./attach.ts";
import { asHttpRoute } from "./grpc-routes.ts";
import type {
  BackendTlsPolicy,
  Condition,
  Gateway,
  GrpcRoute,
  HttpRoute,
  Listener,
  ReferenceGrant,
  RouteRule,
} from "./kinds.ts";
import { gatewaysByService, judgePolicies } from "./policies.ts";
import { type AnyRoute, asTcpRoute, asTlsRoute, type RouteKind } from "./route-kinds.ts";
import { GatewayRoutes } from "./rules.ts";
import { wantedStatuses } from "./status.ts";
import { StreamRoutes } from "./stream-routes.ts";

type Profile = (typeof PROFILES)[number];
const PROFILES = ["Gateway", "GATEWAY-HTTP", "GATEWAY-GRPC", "GATEWAY-TLS", "GATEWAY-TCP", "BackendTLSPolicy"] as const;

interface Row {
  readonly profile: Profile;
  /** As in the project's suite. */
  readonly name: string;
  readonly shows: string;
  readonly check: () => void;
}

const CONTROLLER = "k8ts.dev/gateway";
const NS = "infra";
const listener = (more: Partial<Listener> = {}): Listener => ({ name: "http", port: 80, protocol: "HTTP", ...more });
const gateway = (...listeners: Partial<Listener>[]): Gateway => ({
  metadata: { name: "edge", namespace: NS, generation: 2 },
  spec: { gatewayClassName: "k8ts", listeners: (listeners.length === 0 ? [{}] : listeners).map(listener) },
});
const to = (name: string, more: object = {}) => ({ name, port: 8080, ...more });
const route = (rules: RouteRule[], more: object = {}, namespace = NS, name = "route"): HttpRoute => ({
  metadata: { name, namespace, generation: 3 },
  spec: { parentRefs: [{ name: "edge", namespace: NS }], rules, ...more },
});
const grpc = (rules: NonNullable<NonNullable<GrpcRoute["spec"]>["rules"]>, more: object = {}): HttpRoute =>
  asHttpRoute({
    metadata: { name: "grpc", namespace: NS, generation: 1 },
    spec: { parentRefs: [{ name: "edge" }], rules, ...more },
  });
const grant = (kind: string, from: "Gateway" | RouteKind, to: string, namespace: string, name?: string) =>
  ({
    metadata: { name: "grant", namespace },
    spec: {
      from: [{ group: "gateway.networking.k8s.io", kind: from, namespace: to }],
      to: [{ group: "", kind, ...(name !== undefined && { name }) }],
    },
  }) satisfies ReferenceGrant;

const streamOf = (rules: RouteRule[], more: object, namespace: string, name: string) => ({
  metadata: { name, namespace, generation: 1 },
  spec: { parentRefs: [{ name: "edge", namespace: NS }], rules, ...more },
});
const tls = (rules: RouteRule[], more: object = {}, namespace = NS, name = "tls") =>
  asTlsRoute(streamOf(rules, more, namespace, name));
const tcp = (rules: RouteRule[], more: object = {}, namespace = NS, name = "tcp") =>
  asTcpRoute(streamOf(rules, more, namespace, name));
const through = (more: Partial<Listener> = {}): Partial<Listener> => ({
  ...{ name: "tls", port: 443, protocol: "TLS", tls: { mode: "Passthrough" } },
  ...more,
});
const CERTIFICATE = { certificateRefs: [{ name: "cert" }] };

function policy(name: string, validation: object, more: object = {}, created = "2030-01-01T00:00:00Z") {
  return {
    metadata: { name, namespace: NS, generation: 7, creationTimestamp: created, uid: name },
    spec: {
      targetRefs: [{ group: "", kind: "Service", name: "secure" }],
      validation: { hostname: "abc.example.com", ...validation },
      ...more,
    },
  } satisfies BackendTlsPolicy;
}
const ca = (name: string, kind = "ConfigMap") => ({ caCertificateRefs: [{ group: "", kind, name }] });

/** Policies for the Service `secure`, which a route of the Gateway names. */
function judged(...policies: BackendTlsPolicy[]) {
  const { attachments } = world(gateway(), [route([{ backendRefs: [to("secure")] }])]);
  const sources = {
    policies,
    authorityOf: (key: string) => (key.endsWith("/none") ? undefined : key),
    isCertificate: () => true,
  };
  const found = judgePolicies(sources, gatewaysByService(attachments.routes));
  const statuses = wantedStatuses(attachments, {
    ...{ addresses: [], controller: CONTROLLER, now: "2030-01-01T00:00:00Z", policies: found.judged },
  }).policies.map(({ object, status }) => {
    const { ancestors } = status as { ancestors: { ancestorRef: object; conditions: Condition[] }[] };
    const conditions = ancestors.flatMap((each) => each.conditions);
    const words = conditions.map(({ type, status: is, reason }) => [type, `${is} ${reason}`]);
    const reasons = Object.fromEntries(words) as { Accepted?: string; ResolvedRefs?: string };
    return { name: object.metadata.name, ancestors, ...reasons };
  });
  const of = (name: string) => statuses.find((each) => each.name === name);
  return { ...found, of };
}

function world(gateways: Gateway | Gateway[], routes: AnyRoute[], more: Partial<GatewaySources> = {}) {
  const attachments = attach({
    classes: [{ metadata: { name: "k8ts", generation: 4 }, spec: { controllerName: CONTROLLER } }],
    gateways: [gateways].flat(),
    routes,
    namespaces: new Map([
      [NS, {}],
      ["web", { team: "blue" }],
    ]),
    ports: new Map([
      [80, "HTTP"],
      [443, "HTTPS"],
    ]),
    controller: CONTROLLER,
    grants: [],
    has: (_, key) => !key.endsWith("/none"),
    ...more,
  });
  const table = new GatewayRoutes(attachments.routes, seededRandom(1));
  const streams = new StreamRoutes(attachments, seededRandom(1));
  const find = (path: string, asked: Partial<RequestInfo> = {}) =>
    table.find({ port: 80, host: "example.com", path, query: "", method: "GET", headers: {}, ...asked });
  const statuses = wantedStatuses(attachments, {
    addresses: ["10.0.0.1"],
    controller: CONTROLLER,
    now: "2030-01-01T00:00:00Z",
  });
  const conditions = (at: number, parent = 0) => {
    const status = statuses.routes[at]?.status as {
      parents?: { conditions: { type: string; status: string; reason: string; observedGeneration: unknown }[] }[];
    };
    return Object.fromEntries(
      (status?.parents?.[parent]?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
    );
  };
  const seen = statuses.gateways[0]?.status as {
    listeners: {
      attachedRoutes: number;
      supportedKinds: { kind: string }[];
      conditions: { type: string; status: string; reason: string; observedGeneration: number }[];
    }[];
    conditions: { type: string; status: string; observedGeneration: number }[];
  };
  return {
    service: (path: string, asked?: Partial<RequestInfo>) => find(path, asked)?.backend?.service,
    /** Where a connection goes that asks for this name: to a Service, or to the HTTP proxy. */
    stream: (port: number, serverName?: string) => streams.find(port, serverName)?.backend?.service,
    ...{ streams, find, conditions, seen, statuses, attachments },
    listener: (at = 0) =>
      Object.fromEntries(
        (seen.listeners[at]?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
      ),
  };
}

const prefix = (value: string) => ({ path: { type: "PathPrefix", value } });
const exact = (value: string) => ({ path: { type: "Exact", value } });
const headers = (...pairs: [string, string][]) => ({ headers: pairs.map(([name, value]) => ({ name, value })) });

const ROWS: readonly Row[] = [
  {
    ...{
      profile: "Gateway",
      name: "GatewayClassObservedGenerationBump",
      shows: "the class is accepted, at its generation",
    },
    check: () =>
      expect(world(gateway(), []).statuses.classes[0]?.status).toMatchObject({
        conditions: [{ type: "Accepted", status: "True", observedGeneration: 4 }],
      }),
  },
  {
    ...{
      profile: "Gateway",
      name: "GatewayObservedGenerationBump",
      shows: "conditions name the generation that they are about",
    },
    check: () => {
      const { seen } = world(gateway(), []);
      for (const { observedGeneration } of [...seen.conditions, ...(seen.listeners[0]?.conditions ?? [])])
        expect(observedGeneration).toBe(2);
    },
  },
  {
    ...{
      profile: "Gateway",
      name: "GatewayInvalidRouteKind",
      shows: "an unknown kind of routes is refused; those that are known stay",
    },
    check: () => {
      const { seen, listener } = world(
        gateway({ allowedRoutes: { kinds: [{ kind: "HTTPRoute" }, { kind: "Invalid" }] } }),
        [],
      );
      expect(listener().ResolvedRefs).toBe("False InvalidRouteKinds");
      expect(seen.listeners[0]?.supportedKinds.map(({ kind }) => kind)).toEqual(["HTTPRoute"]);
      const none = world(gateway({ allowedRoutes: { kinds: [{ kind: "Invalid" }] } }), []);
      expect(none.seen.listeners[0]?.supportedKinds).toEqual([]);
    },
  },
  {
    ...{
      profile: "Gateway",
      name: "GatewayInvalidTLSConfiguration",
      shows: "a certificate that is not there, or of another kind",
    },
    check: () => {
      for (const reference of [
        { name: "none" },
        { name: "a", kind: "ConfigMap" },
        { name: "a", group: "wrong.example" },
      ]) {
        const secure = { port: 443, protocol: "HTTPS", tls: { certificateRefs: [reference] } };
        expect(world(gateway(secure), []).listener()).toMatchObject({
          ResolvedRefs: "False InvalidCertificateRef",
          Programmed: "False Invalid",
        });
      }
    },
  },
  {
    ...{
      profile: "Gateway",
      name: "GatewaySecretInvalidReferenceGrant",
      shows: "a certificate of another namespace needs a grant",
    },
    check: () => {
      const secure = { port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "a", namespace: "web" }] } };
      const wrong = [grant("Secret", "Gateway", "elsewhere", "web"), grant("Service", "Gateway", NS, "web")];
      expect(world(gateway(secure), [], { grants: wrong }).listener().ResolvedRefs).toBe("False RefNotPermitted");
    },
  },
  {
    ...{ profile: "Gateway", name: "GatewaySecretReferenceGrantAllInNamespace", shows: "a grant for all Secrets" },
    check: () => {
      const secure = { port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "a", namespace: "web" }] } };
      const { listener, attachments } = world(gateway(secure), [], { grants: [grant("Secret", "Gateway", NS, "web")] });
      expect(listener()).toMatchObject({ ResolvedRefs: "True ResolvedRefs", Programmed: "True Programmed" });
      expect(attachments.certificates).toEqual([{ gateway: `${NS}/edge`, host: "", secret: "web/a" }]);
    },
  },
  {
    ...{ profile: "Gateway", name: "GatewaySecretReferenceGrantSpecific", shows: "a grant for one Secret" },
    check: () => {
      const secure = { port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "a", namespace: "web" }] } };
      const given = (name: string) =>
        world(gateway(secure), [], { grants: [grant("Secret", "Gateway", NS, "web", name)] });
      expect(given("a").listener().ResolvedRefs).toBe("True ResolvedRefs");
      expect(given("b").listener().ResolvedRefs).toBe("False RefNotPermitted");
    },
  },
  {
    ...{ profile: "Gateway", name: "GatewayModifyListeners", shows: "listeners come and go with the spec" },
    check: () => {
      const two = world(gateway({}, { name: "more", hostname: "a.example" }), []);
      expect(two.seen.listeners).toHaveLength(2);
      expect(world(gateway({}), []).seen.listeners).toHaveLength(1);
    },
  },
  {
    ...{ profile: "Gateway", name: "GatewayWithAttachedRoutes", shows: "each listener counts its routes" },
    check: () => {
      const { seen } = world(gateway({}, { name: "other", hostname: "other.example" }), [
        route([{ backendRefs: [to("a")] }], { parentRefs: [{ name: "edge", sectionName: "http" }] }),
        route([{ backendRefs: [to("none")] }], { parentRefs: [{ name: "edge", sectionName: "http" }] }, NS, "two"),
      ]);
      expect(seen.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([2, 0]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteSimpleSameNamespace",
      shows: "a route and a Service of the Gateway's namespace",
    },
    check: () => expect(world(gateway(), [route([{ backendRefs: [to("v1")] }])]).service("/")).toBe(`${NS}/v1`),
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteCrossNamespace",
      shows: "routes of namespaces that the listener allows",
    },
    check: () => {
      const open = { allowedRoutes: { namespaces: { from: "Selector", selector: { matchLabels: { team: "blue" } } } } };
      expect(world(gateway(open), [route([{ backendRefs: [to("v1")] }], {}, "web")]).service("/")).toBe("web/v1");
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteInvalidCrossNamespaceParentRef", shows: "and not of others" },
    check: () => {
      const { service, conditions } = world(gateway(), [route([{ backendRefs: [to("v1")] }], {}, "web")]);
      expect([service("/"), conditions(0).Accepted]).toEqual([undefined, "False NotAllowedByListeners"]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteInvalidParentRefNotMatchingSectionName",
      shows: "a listener that is not there",
    },
    check: () => {
      const { conditions } = world(gateway(), [route([{}], { parentRefs: [{ name: "edge", sectionName: "ghost" }] })]);
      expect(conditions(0).Accepted).toBe("False NoMatchingParent");
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteInvalidParentRefNotMatchingListenerPort",
      shows: "a port that no listener has",
    },
    check: () => {
      const { conditions } = world(gateway(), [route([{}], { parentRefs: [{ name: "edge", port: 81 }] })]);
      expect(conditions(0).Accepted).toBe("False NoMatchingParent");
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteInvalidBackendRefUnknownKind",
      shows: "500, and the condition says why",
    },
    check: () => {
      const { find, conditions } = world(gateway(), [
        route([{ backendRefs: [to("a", { kind: "NonExistent", group: "x.example" })] }]),
      ]);
      expect(find("/")?.changes?.answer?.status).toBe(500);
      expect(conditions(0)).toEqual({ Accepted: "True Accepted", ResolvedRefs: "False InvalidKind" });
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteInvalidNonExistentBackendRef",
      shows: "a Service that does not exist",
    },
    check: () => {
      const { find, conditions } = world(gateway(), [route([{ backendRefs: [to("none")] }])]);
      expect([find("/")?.changes?.answer?.status, conditions(0).ResolvedRefs]).toEqual([500, "False BackendNotFound"]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteInvalidCrossNamespaceBackendRef",
      shows: "a Service of another namespace without a grant",
    },
    check: () => {
      const { find, conditions } = world(gateway(), [route([{ backendRefs: [to("a", { namespace: "web" })] }])]);
      expect([find("/")?.changes?.answer?.status, conditions(0).ResolvedRefs]).toEqual([500, "False RefNotPermitted"]);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteReferenceGrant", shows: "and with one" },
    check: () => {
      const grants = [grant("Service", "HTTPRoute", NS, "web", "a")];
      const { service } = world(gateway(), [route([{ backendRefs: [to("a", { namespace: "web" })] }])], { grants });
      expect(service("/")).toBe("web/a");
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteInvalidReferenceGrant", shows: "a grant for others does not count" },
    check: () => {
      const grants = [grant("Service", "HTTPRoute", "elsewhere", "web"), grant("Secret", "HTTPRoute", NS, "web")];
      const { conditions } = world(gateway(), [route([{ backendRefs: [to("a", { namespace: "web" })] }])], { grants });
      expect(conditions(0).ResolvedRefs).toBe("False RefNotPermitted");
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRoutePartiallyInvalidViaInvalidReferenceGrant",
      shows: "the rest of the route is served",
    },
    check: () => {
      const { find, service } = world(gateway(), [
        route([
          { matches: [prefix("/far")], backendRefs: [to("a", { namespace: "web" })] },
          { matches: [prefix("/near")], backendRefs: [to("b")] },
        ]),
      ]);
      expect([find("/far")?.changes?.answer?.status, service("/near")]).toEqual([500, `${NS}/b`]);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteDisallowedKind", shows: "a listener for other kinds of routes" },
    check: () => {
      const { conditions } = world(gateway({ allowedRoutes: { kinds: [{ kind: "GRPCRoute" }] } }), [route([{}])]);
      expect(conditions(0).Accepted).toBe("False NotAllowedByListeners");
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteExactPathMatching", shows: "nothing but the path" },
    check: () => {
      const { service } = world(gateway(), [route([{ matches: [exact("/one")], backendRefs: [to("v1")] }])]);
      expect(["/one", "/one/", "/one/x", "/onex"].map((path) => service(path))).toEqual([
        `${NS}/v1`,
        undefined,
        undefined,
        undefined,
      ]);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteMatching", shows: "prefixes and headers" },
    check: () => {
      const { service } = world(gateway(), [
        route([
          { matches: [prefix("/"), headers(["version", "one"])], backendRefs: [to("v1")] },
          { matches: [prefix("/v2"), headers(["version", "two"])], backendRefs: [to("v2")] },
        ]),
      ]);
      expect([service("/"), service("/example"), service("/", { headers: { version: "one" } })]).toEqual(
        Array(3).fill(`${NS}/v1`),
      );
      expect([service("/v2"), service("/v2/example"), service("/", { headers: { version: "two" } })]).toEqual(
        Array(3).fill(`${NS}/v2`),
      );
      expect(service("/v2example")).toBe(`${NS}/v1`);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteMatchingAcrossRoutes", shows: "precedence holds across routes" },
    check: () => {
      const { service } = world(gateway(), [
        route([{ matches: [prefix("/"), headers(["version", "one"])], backendRefs: [to("v1")] }], {
          hostnames: ["example.com"],
        }),
        route(
          [{ matches: [prefix("/v2"), headers(["version", "two"])], backendRefs: [to("v2")] }],
          { hostnames: ["example.com"] },
          NS,
          "z",
        ),
      ]);
      expect([service("/example"), service("/v2"), service("/v2", { headers: { version: "one" } })]).toEqual([
        `${NS}/v1`,
        `${NS}/v2`,
        `${NS}/v2`,
      ]);
      expect(service("/", { host: "example.net" })).toBeUndefined();
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteHeaderMatching",
      shows: "more headers before fewer, names in any case",
    },
    check: () => {
      const { service } = world(gateway(), [
        route([
          { matches: [headers(["Version", "one"])], backendRefs: [to("v1")] },
          { matches: [headers(["Version", "two"])], backendRefs: [to("v2")] },
          { matches: [headers(["Version", "two"], ["Color", "orange"])], backendRefs: [to("v3")] },
        ]),
      ]);
      const ask = (headers: Record<string, string>) => service("/", { headers });
      expect([
        ask({ version: "one" }),
        ask({ version: "two" }),
        ask({ version: "two", color: "orange" }),
        ask({ color: "orange" }),
      ]).toEqual([`${NS}/v1`, `${NS}/v2`, `${NS}/v3`, undefined]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRoutePathMatchOrder",
      shows: "exact before prefix, the longest prefix, whatever the order",
    },
    check: () => {
      const { service } = world(gateway(), [
        route([
          { matches: [prefix("/match")], backendRefs: [to("v3")] },
          { matches: [prefix("/match/prefix")], backendRefs: [to("v2")] },
          { matches: [exact("/match/exact")], backendRefs: [to("v1")] },
        ]),
      ]);
      expect(["/match/exact", "/match/prefix/one", "/match/other"].map((path) => service(path))).toEqual([
        `${NS}/v1`,
        `${NS}/v2`,
        `${NS}/v3`,
      ]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteListenerHostnameMatching",
      shows: "hosts of listeners, and wildcards",
    },
    check: () => {
      const { service } = world(gateway({ hostname: "bar.com" }, { name: "wild", hostname: "*.bar.com" }), [
        route([{ backendRefs: [to("v1")] }], { parentRefs: [{ name: "edge", sectionName: "http" }] }),
        route([{ backendRefs: [to("v2")] }], { parentRefs: [{ name: "edge", sectionName: "wild" }] }, NS, "wild"),
      ]);
      expect(["bar.com", "foo.bar.com", "a.foo.bar.com", "foo.com"].map((host) => service("/", { host }))).toEqual([
        `${NS}/v1`,
        `${NS}/v2`,
        `${NS}/v2`,
        undefined,
      ]);
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteHostnameIntersection",
      shows: "only hosts that listener and route share; none: not accepted",
    },
    check: () => {
      const one = world(gateway({ hostname: "*.wildcard.io" }), [
        route([{ backendRefs: [to("v1")] }], { hostnames: ["foo.wildcard.io", "non.matching.com"] }),
        route([{ backendRefs: [to("v2")] }], { hostnames: ["wildcard.io"] }, NS, "none"),
      ]);
      expect(
        ["foo.wildcard.io", "non.matching.com", "bar.wildcard.io"].map((host) => one.service("/", { host })),
      ).toEqual([`${NS}/v1`, undefined, undefined]);
      expect(one.conditions(1).Accepted).toBe("False NoMatchingListenerHostname");
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteHTTPSListener", shows: "a listener that terminates TLS" },
    check: () => {
      const secure = { port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "a" }] } };
      const { service, listener } = world(gateway(secure), [route([{ backendRefs: [to("v1")] }])]);
      expect([service("/", { port: 443 }), service("/"), listener().Programmed]).toEqual([
        `${NS}/v1`,
        undefined,
        "True Programmed",
      ]);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteRedirectHostAndStatus", shows: "redirects by host and status" },
    check: () => {
      const filters = [{ type: "RequestRedirect", requestRedirect: { hostname: "example.org", statusCode: 301 } }];
      expect(world(gateway(), [route([{ filters }])]).find("/x")?.changes?.answer).toEqual({
        status: 301,
        location: "http://example.org/x",
      });
    },
  },
  {
    ...{
      profile: "GATEWAY-HTTP",
      name: "HTTPRouteRequestHeaderModifier",
      shows: "headers of requests are set, added, removed",
    },
    check: () => {
      const change = {
        set: [{ name: "X-Set", value: "1" }],
        add: [{ name: "X-Add", value: "2" }],
        remove: ["X-Remove"],
      };
      const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: change }];
      const found = world(gateway(), [route([{ filters, backendRefs: [to("v1")] }])]).find("/");
      expect(found?.changes?.requestHeaders).toEqual([change]);
    },
  },
  {
    ...{ profile: "GATEWAY-HTTP", name: "HTTPRouteWeight", shows: "shares of requests" },
    check: () => {
      const rule = { backendRefs: [to("v1", { weight: 70 }), to("v2", { weight: 30 }), to("v3", { weight: 0 })] };
      const { service } = world(gateway(), [route([rule])]);
      const counts = new Map<string, number>();
      for (let turn = 0; turn < 2000; turn++) {
        const name = service("/") ?? "";
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      expect(Math.round((counts.get(`${NS}/v1`) ?? 0) / 200)).toBe(7);
      expect(counts.has(`${NS}/v3`)).toBe(false);
    },
  },
  {
    ...{
      profile: "GATEWAY-GRPC",
      name: "GRPCExactMethodMatching",
      shows: "by service, by method, by both; over HTTP/2",
    },
    check: () => {
      const rule = (method: object, name: string) => ({ matches: [{ method }], backendRefs: [to(name)] });
      const { find, service } = world(gateway(), [
        grpc([
          rule({ service: "shop.Cart", method: "Add" }, "both"),
          rule({ service: "shop.Cart" }, "service"),
          rule({ method: "Ping" }, "method"),
        ]),
      ]);
      expect(
        ["/shop.Cart/Add", "/shop.Cart/Remove", "/any.Service/Ping", "/shop.Cartoon/Add"].map((path) => service(path)),
      ).toEqual([`${NS}/both`, `${NS}/service`, `${NS}/method`, undefined]);
      expect(find("/shop.Cart/Add")?.backend?.http2).toBe(true);
    },
  },
  {
    ...{ profile: "GATEWAY-GRPC", name: "GRPCRouteHeaderMatching", shows: "by headers" },
    check: () => {
      const rule = (name: string, ...pairs: [string, string][]) => ({
        matches: [headers(...pairs)],
        backendRefs: [to(name)],
      });
      const { service } = world(gateway(), [
        grpc([rule("v1", ["version", "one"]), rule("v2", ["version", "one"], ["color", "blue"])]),
      ]);
      expect(service("/a/b", { headers: { version: "one" } })).toBe(`${NS}/v1`);
      expect(service("/a/b", { headers: { version: "one", color: "blue" } })).toBe(`${NS}/v2`);
    },
  },
  {
    ...{ profile: "GATEWAY-GRPC", name: "GRPCRouteListenerHostnameMatching", shows: "hosts of listeners" },
    check: () => {
      const { service } = world(gateway({ hostname: "*.grpc.io" }), [grpc([{ backendRefs: [to("v1")] }])]);
      expect([service("/a/b", { host: "x.grpc.io" }), service("/a/b", { host: "grpc.io" })]).toEqual([
        `${NS}/v1`,
        undefined,
      ]);
    },
  },
  {
    ...{ profile: "GATEWAY-GRPC", name: "GRPCRouteWeight", shows: "shares of calls" },
    check: () => {
      const { service } = world(gateway(), [
        grpc([{ backendRefs: [to("v1", { weight: 0 }), to("v2", { weight: 1 })] }]),
      ]);
      expect(Array.from({ length: 20 }, () => service("/a/b"))).toEqual(Array(20).fill(`${NS}/v2`));
    },
  },
  {
    ...{
      profile: "GATEWAY-GRPC",
      name: "status of GRPCRoutes",
      shows: "conditions as those of HTTPRoutes; grants name the kind",
    },
    check: () => {
      const far = grpc([{ backendRefs: [to("a", { namespace: "web" })] }]);
      expect(world(gateway(), [far]).conditions(0)).toEqual({
        Accepted: "True Accepted",
        ResolvedRefs: "False RefNotPermitted",
      });
      const grants = [grant("Service", "GRPCRoute", NS, "web")];
      expect(world(gateway(), [far], { grants }).conditions(0).ResolvedRefs).toBe("True ResolvedRefs");
    },
  },
  {
    ...{
      profile: "GATEWAY-TLS",
      name: "TLSRouteSimpleSameNamespace",
      shows: "connections go by the name they ask for",
    },
    check: () => {
      const { stream, conditions, listener } = world(gateway(through()), [
        tls([{ backendRefs: [to("a")] }], { hostnames: ["abc.example.com"] }),
      ]);
      expect([stream(443, "abc.example.com"), stream(443, "other.example.com")]).toEqual([`${NS}/a`, undefined]);
      expect(conditions(0)).toEqual({ Accepted: "True Accepted", ResolvedRefs: "True ResolvedRefs" });
      expect(listener().Programmed).toBe("True Programmed");
    },
  },
  {
    ...{ profile: "GATEWAY-TLS", name: "TLSRouteHostnameIntersection", shows: "the most specific name that both have" },
    check: () => {
      const { stream, conditions } = world(gateway(through({ hostname: "*.example.com" })), [
        tls([{ backendRefs: [to("a")] }], { hostnames: ["*.com"] }),
        tls([{ backendRefs: [to("b")] }], { hostnames: ["b.example.com"] }, NS, "b"),
        tls([{ backendRefs: [to("c")] }], { hostnames: ["c.example.org"] }, NS, "c"),
      ]);
      expect(["a.example.com", "b.example.com", "c.example.org"].map((name) => stream(443, name))).toEqual([
        ...[`${NS}/a`, `${NS}/b`],
        undefined,
      ]);
      expect(conditions(2).Accepted).toBe("False NoMatchingListenerHostname");
    },
  },
  {
    ...{ profile: "GATEWAY-TLS", name: "TLSRouteInvalidReferenceGrant", shows: "a Service elsewhere needs a grant" },
    check: () => {
      const far = tls([{ backendRefs: [to("a", { namespace: "web" })] }], { hostnames: ["a.example.com"] });
      const closed = world(gateway(through()), [far], { grants: [grant("Service", "HTTPRoute", NS, "web")] });
      expect(closed.conditions(0).ResolvedRefs).toBe("False RefNotPermitted");
      // The connection is taken, and refused.
      expect(closed.streams.find(443, "a.example.com")).toMatchObject({ backend: undefined });
      const open = world(gateway(through()), [far], { grants: [grant("Service", "TLSRoute", NS, "web")] });
      expect(open.stream(443, "a.example.com")).toBe("web/a");
    },
  },
  {
    ...{ profile: "GATEWAY-TLS", name: "TLSRouteInvalidBackendRefNonexistent", shows: "a Service that does not exist" },
    check: () => {
      const { conditions } = world(gateway(through()), [tls([{ backendRefs: [to("none")] }], { hostnames: ["a.b"] })]);
      expect(conditions(0).ResolvedRefs).toBe("False BackendNotFound");
    },
  },
  {
    ...{ profile: "GATEWAY-TLS", name: "TLSRouteTerminateSimpleSameNamespace", shows: "TLS ends at the listener" },
    check: () => {
      const { streams, attachments } = world(gateway(through({ port: 8443, tls: CERTIFICATE })), [
        tls([{ backendRefs: [to("a")] }], { hostnames: ["a.example.com"] }),
      ]);
      expect(streams.find(8443, "a.example.com")).toMatchObject({ endsTls: true });
      expect([attachments.certificates, attachments.streamPorts]).toEqual([
        [{ gateway: `${NS}/edge`, host: "", secret: `${NS}/cert` }],
        new Set([8443]),
      ]);
    },
  },
  {
    ...{
      profile: "GATEWAY-TLS",
      name: "TLSRouteMixedTerminationSameNamespace",
      shows: "HTTPS keeps its names on a port that TLS shares",
    },
    check: () => {
      const own = { name: "https", port: 443, protocol: "HTTPS", hostname: "own.example.com", tls: CERTIFICATE };
      const { stream } = world(gateway(through({ hostname: "*.example.com" }), own), [
        tls([{ backendRefs: [to("a")] }], { hostnames: ["*.example.com"] }),
      ]);
      expect([stream(443, "a.example.com"), stream(443, "own.example.com")]).toEqual([`${NS}/a`, undefined]);
    },
  },
  {
    ...{
      profile: "GATEWAY-TLS",
      name: "GatewayTLSRouteKinds",
      shows: "a listener shows TLSRoute; HTTPS does not pass TLS through",
    },
    check: () => {
      const { seen } = world(gateway(through()), []);
      expect(seen.listeners[0]?.supportedKinds.map(({ kind }) => kind)).toEqual(["TLSRoute"]);
      const odd = world(gateway(through({ protocol: "HTTPS" })), []);
      expect(odd.listener().Accepted).toBe("False UnsupportedProtocol");
      const refused = world(gateway(through()), [route([{ backendRefs: [to("a")] }])]);
      expect(refused.conditions(0).Accepted).toBe("False NotAllowedByListeners");
    },
  },
  {
    ...{ profile: "GATEWAY-TCP", name: "TCPRoute", shows: "connections of a port, whatever they carry" },
    check: () => {
      const listeners = [
        { name: "db", port: 5432, protocol: "TCP" },
        { name: "mq", port: 5672, protocol: "TCP" },
      ];
      const { stream, attachments, seen } = world(gateway(...listeners), [
        tcp([{ backendRefs: [to("db")] }], { parentRefs: [{ name: "edge", sectionName: "db" }] }),
      ]);
      expect([stream(5432), stream(5432, "any.name"), stream(5672)]).toEqual([`${NS}/db`, `${NS}/db`, undefined]);
      expect([...attachments.streamPorts]).toEqual([5432, 5672]);
      expect(seen.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([1, 0]);
    },
  },
  {
    ...{ profile: "GATEWAY-TCP", name: "TCPRouteWeight", shows: "shares of connections; the share of none is refused" },
    check: () => {
      const db = { name: "db", port: 5432, protocol: "TCP" };
      const rules = [{ backendRefs: [to("a", { weight: 3 }), to("none", { weight: 1 }), to("b", { weight: 0 })] }];
      const { stream } = world(gateway(db), [tcp(rules)]);
      const chosen = Array.from({ length: 400 }, () => stream(5432) ?? "refused");
      expect(new Set(chosen)).toEqual(new Set([`${NS}/a`, "refused"]));
      expect(chosen.filter((each) => each === "refused").length).toBeGreaterThan(50);
    },
  },
  {
    ...{
      profile: "GATEWAY-TCP",
      name: "ListenerPorts",
      shows: "a port of another protocol, or one that cannot be opened",
    },
    check: () => {
      const port = (listeners: Partial<Listener>[], closedPorts?: Map<number, string>) =>
        world(gateway(...listeners), [], { closedPorts });
      expect(port([{ port: 80, protocol: "TCP" }]).listener().Accepted).toBe("False PortUnavailable");
      const busy = new Map([[5432, "port 5432 is in use"]]);
      expect(port([{ port: 5432, protocol: "TCP" }], busy).listener().Accepted).toBe("False PortUnavailable");
      const both = port([
        { port: 5432, protocol: "TCP" },
        { name: "b", ...through({ port: 5432 }) },
      ]);
      expect([both.listener(0).Accepted, both.listener(1).Accepted]).toEqual([
        "True Accepted",
        "False ProtocolConflict",
      ]);
    },
  },
  {
    ...{ profile: "BackendTLSPolicy", name: "BackendTLSPolicy", shows: "a Service is asked over TLS, by its policy" },
    check: () => {
      const { tlsOf, of } = judged(policy("p", ca("good")));
      expect(tlsOf(`${NS}/secure`, "any")).toMatchObject({
        serverName: "abc.example.com",
        ca: `${NS}/good`,
        names: [],
      });
      expect(tlsOf(`${NS}/plain`, "any")).toBeUndefined();
      expect(of("p")).toMatchObject({
        ...{ Accepted: "True Accepted", ResolvedRefs: "True ResolvedRefs" },
        ancestors: [{ ancestorRef: { kind: "Gateway", namespace: NS, name: "edge" } }],
      });
    },
  },
  {
    ...{
      profile: "BackendTLSPolicy",
      name: "BackendTLSPolicyConflictResolution",
      shows: "one port first, then the older",
    },
    check: () => {
      const target = { targetRefs: [{ group: "", kind: "Service", name: "secure", sectionName: "admin" }] };
      const { tlsOf, of } = judged(
        policy("newer", { ...ca("b"), hostname: "b.example" }, {}, "2031-01-01T00:00:00Z"),
        policy("older", { ...ca("a"), hostname: "a.example" }),
        policy("port", { ...ca("c"), hostname: "c.example" }, target, "2032-01-01T00:00:00Z"),
      );
      expect([tlsOf(`${NS}/secure`, "web"), tlsOf(`${NS}/secure`, "admin")]).toMatchObject([
        { serverName: "a.example" },
        { serverName: "c.example" },
      ]);
      expect([of("newer")?.Accepted, of("older")?.Accepted]).toEqual(["False Conflicted", "True Accepted"]);
    },
  },
  {
    ...{
      profile: "BackendTLSPolicy",
      name: "BackendTLSPolicyInvalidCACertificateRef",
      shows: "nothing is sent without TLS",
    },
    check: () => {
      const { tlsOf, of } = judged(policy("p", ca("none")));
      expect(tlsOf(`${NS}/secure`, "web")).toBe("closed");
      expect(of("p")).toMatchObject({
        ...{ Accepted: "False NoValidCACertificate", ResolvedRefs: "False InvalidCACertificateRef" },
      });
      const half = policy("p", { caCertificateRefs: [...ca("none").caCertificateRefs, ...ca("a").caCertificateRefs] });
      expect(judged(half).of("p")).toMatchObject({
        ...{ Accepted: "True Accepted", ResolvedRefs: "False InvalidCACertificateRef" },
      });
    },
  },
  {
    ...{ profile: "BackendTLSPolicy", name: "BackendTLSPolicyInvalidKind", shows: "an authority of another kind" },
    check: () =>
      expect(judged(policy("p", ca("a", "Secret"))).of("p")).toMatchObject({
        ...{ Accepted: "False NoValidCACertificate", ResolvedRefs: "False InvalidKind" },
      }),
  },
  {
    ...{
      profile: "BackendTLSPolicy",
      name: "BackendTLSPolicyWellKnownCACertificates",
      shows: "the system's authorities",
    },
    check: () =>
      expect(judged(policy("p", { wellKnownCACertificates: "System" })).tlsOf(`${NS}/secure`, "")).toMatchObject({
        ca: undefined,
      }),
  },
  {
    ...{
      profile: "BackendTLSPolicy",
      name: "BackendTLSPolicyObservedGenerationBump",
      shows: "conditions name the generation",
    },
    check: () => {
      const seen = judged(policy("p", ca("a"))).of("p")?.ancestors[0]?.conditions;
      expect(seen?.map(({ observedGeneration }) => observedGeneration)).toEqual([7, 7]);
    },
  },
];

describe.each(PROFILES)("%s", (profile) => {
  it.each(ROWS.filter((row) => row.profile === profile))("$name: $shows", ({ check }) => check());
});

it("docs/gateway-conformance.md has the rows", async () => {
  const rows = ROWS.map(({ profile, name, shows }) => `| ${profile} | ${name} | ${shows} |`);
  const page = `# Conformance with the Gateway API

The core features of the published conformance profiles, by the names of the project's suite, each with a test of
[conformance.test.ts](../src/network/gateway/conformance.test.ts): on the rules that requests are routed by, and on the statuses that are written. What
clients and endpoints speak is tested on sockets: [http2.test.ts](../src/network/http/http2.test.ts) (HTTP/2, gRPC),
[server.test.ts](../src/network/http/server.test.ts), and in a cluster:
[entrances.test.ts](../test/containerd/entrances.test.ts).

This file is written by a test: \`npm test -- -u src/network/gateway/conformance.test.ts\` after a change.

| profile | test | shows |
| --- | --- | --- |
${rows.join("\n")}

Names of certificates that policies ask for (BackendTLSPolicySANValidation), passing TLS through and ending it are tested on sockets, too:
[backend-tls.test.ts](../src/network/http/backend-tls.test.ts), [stream.test.ts](../src/network/stream/stream.test.ts).

Not served: UDPRoute, and client certificates of Gateways. The definition of UDPRoutes is not installed, and a listener for UDP is not accepted.
`;
  await expect(page).toMatchFileSnapshot(join(import.meta.dirname, "../../../docs/gateway-conformance.md"));
});
