/**
 * The difference between the routes that Nodes need and those of the cloud, and what Nodes say about it.
 *
 * 1. Only routes into the cluster's own Pod ranges are removed: others are somebody else's.
 */
import { type core, formatTime, instantOf, kinds, parseCidr } from "#api";
import type { Write } from "#controllers";
import type { Route } from "../cloud.ts";

export interface RouteChanges {
  readonly missing: readonly Route[];
  readonly stale: readonly Route[];
}

export function routeChanges(
  nodes: readonly core.Node[],
  there: readonly Route[],
  clusterCidrs?: readonly string[] | undefined,
): RouteChanges {
  const wanted = new Map(nodes.flatMap(routesTo).map((route) => [idOf(route), route]));
  const kept = new Set(there.filter((route) => isRight(route, wanted.get(idOf(route)))).map(idOf));
  return {
    missing: [...wanted.values()].filter((route) => !kept.has(idOf(route))),
    stale: there.filter((route) => !isRight(route, wanted.get(idOf(route))) && isOurs(route, clusterCidrs)),
  };
}

export function routesTo({ metadata: { name = "" }, spec, status }: core.Node): readonly Route[] {
  const addresses = (status?.addresses ?? []).map(({ type, address }) => ({ type, address }));
  return (spec?.podCIDRs ?? []).map((destination) => ({ nodeName: name, destination, addresses }));
}

function idOf({ nodeName, destination }: Route): string {
  return `${nodeName} ${destination}`;
}

function isRight(route: Route, wanted: Route | undefined): boolean {
  if (wanted === undefined || route.blackhole === true) return false;
  return route.addresses === undefined || textOf(route) === textOf(wanted);
}

function textOf({ addresses = [] }: Route): string {
  return addresses
    .map(({ type, address }) => `${type} ${address}`)
    .sort()
    .join();
}

function isOurs({ destination }: Route, clusterCidrs: readonly string[] | undefined): boolean {
  return clusterCidrs === undefined || clusterCidrs.some((range) => contains(range, destination));
}

function contains(outer: string, inner: string): boolean {
  const [range, part] = [parseCidr(outer), parseCidr(inner)];
  if (range === undefined || part === undefined || range.bytes.length !== part.bytes.length) return false;
  if (part.prefixLength < range.prefixLength) return false;
  return range.bytes.every((byte, at) => {
    const bits = Math.min(8, Math.max(0, range.prefixLength - 8 * at));
    const mask = (0xff << (8 - bits)) & 0xff;
    return (byte & mask) === ((part.bytes[at] ?? 0) & mask);
  });
}

/** The condition of a Node, if it has to change. */
export function conditionWrites(node: core.Node, hasRoutes: boolean, now: number): readonly Write[] {
  if ((node.spec?.podCIDRs ?? []).length === 0) return [];
  const [status, reason, message] = hasRoutes
    ? ["False", "RouteCreated", "RouteController created a route"]
    : ["True", "NoRouteCreated", "RouteController failed to create a route"];
  const known = node.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  if (known?.status === status) return [];
  const at = formatTime(instantOf(now));
  const condition = {
    ...{ type: "NetworkUnavailable", status: status ?? "", reason: reason ?? "", message: message ?? "" },
    ...{ lastTransitionTime: at, lastHeartbeatTime: at },
  };
  const patch = { status: { conditions: [condition] } };
  return [{ verb: "patch", resource: kinds.Node, object: node, subresource: "status", patch }];
}
