/**
 * GRPCRoutes as HTTPRoutes: a call of gRPC is a POST whose path names its service and method. Pure.
 *
 *     service and method ──► path /SERVICE/METHOD;  service ──► prefix /SERVICE;  method ──► any service
 */
import type { GrpcRoute, RouteMatch } from "./kinds.ts";
import type { AsHttpRoute } from "./route-kinds.ts";

export function asHttpRoute(source: GrpcRoute): AsHttpRoute {
  const { metadata, spec, status } = source;
  const rules = (spec?.rules ?? []).map(({ matches = [], ...rule }) => ({ ...rule, matches: matches.map(matchOf) }));
  return {
    ...{ metadata, source, routeKind: "GRPCRoute" as const },
    ...(spec !== undefined && { spec: { ...spec, rules } }),
    ...(status !== undefined && { status }),
  };
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
