/**
 * GRPCRoutes as HTTPRoutes: a call of gRPC is a POST whose path names its service and method. Pure.
 *
 *     service and method ──► path /SERVICE/METHOD;  service ──► prefix /SERVICE;  method ──► any service
 */
import type { GrpcRoute, HttpRoute, RouteMatch } from "./kinds.ts";

/** What a route is that is served like an HTTPRoute. */
export interface AsHttpRoute extends HttpRoute {
  readonly source: GrpcRoute;
}

export function asHttpRoute(source: GrpcRoute): AsHttpRoute {
  const { metadata, spec, status } = source;
  const rules = (spec?.rules ?? []).map(({ matches = [], ...rule }) => ({ ...rule, matches: matches.map(matchOf) }));
  return {
    ...{ metadata, source },
    ...(spec !== undefined && { spec: { ...spec, rules } }),
    ...(status !== undefined && { status }),
  };
}

export function isGrpcRoute(route: HttpRoute): route is AsHttpRoute {
  return "source" in route;
}

type GrpcMatch = NonNullable<NonNullable<NonNullable<GrpcRoute["spec"]>["rules"]>[number]["matches"]>[number];

function matchOf({ method = {}, headers }: GrpcMatch): RouteMatch {
  const path = pathOf(method);
  return { ...(path !== undefined && { path }), ...(headers !== undefined && { headers }) };
}

const ANY = "[^/]+";

function pathOf({ type = "Exact", service = "", method = "" }: NonNullable<GrpcMatch["method"]>): RouteMatch["path"] {
  if (service === "" && method === "") return undefined;
  if (type !== "Exact") return { type, value: `/${service || ANY}/${method || ANY}` };
  if (method === "") return { type: "PathPrefix", value: `/${service}` };
  if (service !== "") return { type, value: `/${service}/${method}` };
  return { type: "RegularExpression", value: `/${ANY}/${method.replaceAll(/[^A-Za-z0-9_]/g, "\\$&")}` };
}
