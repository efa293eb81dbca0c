/**
 * The kinds of routes as one form, that of HTTPRoutes: which Gateways, which hosts, which backends. Pure.
 *
 * 1. TLSRoutes and TCPRoutes have rules without matches and filters.
 */
import type { GrpcRoute, HttpRoute, TcpRoute, TlsRoute } from "./kinds.ts";

export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TLSRoute" | "TCPRoute";

/** A route of another kind in the form of an HTTPRoute. */
interface Converted<Kind extends RouteKind, Source> extends HttpRoute {
  readonly routeKind: Kind;
  readonly source: Source;
}

export type AsHttpRoute = Converted<"GRPCRoute", GrpcRoute>;
export type AsStreamRoute = Converted<"TLSRoute", TlsRoute> | Converted<"TCPRoute", TcpRoute>;
/** HTTPRoutes are as they are. */
export type AnyRoute = HttpRoute | AsHttpRoute | AsStreamRoute;

export function kindOf(route: AnyRoute): RouteKind {
  return "routeKind" in route ? route.routeKind : "HTTPRoute";
}

/** The object whose status is written. */
export function sourceOf(route: AnyRoute): HttpRoute | GrpcRoute | TlsRoute | TcpRoute {
  return "routeKind" in route ? route.source : route;
}

export function asTlsRoute(source: TlsRoute): AsStreamRoute {
  return { ...source, routeKind: "TLSRoute", source };
}

export function asTcpRoute(source: TcpRoute): AsStreamRoute {
  return { ...source, routeKind: "TCPRoute", source };
}
