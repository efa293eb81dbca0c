/**
 * Which listeners serve which HTTPRoutes and GRPCRoutes, and the conditions that follow, as documented by the Gateway
 * API. Pure.
 *
 * 1. A listener serves routes that name its Gateway as a parent, come from a Namespace that it allows, and share a host
 *    with it.
 * 2. A listener with an unserved port or protocol is not accepted; the other listeners of its Gateway are.
 * 3. An unresolved reference (`references.ts`) costs a route the requests that would go there, and a listener its
 *    certificate; the rest is served.
 */
import { type Labels, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import type { Backend } from "../http/route.ts";
import { isGrpcRoute } from "./grpc-routes.ts";
import { sharedHosts } from "./hosts.ts";
import type {
  BackendReference,
  Condition,
  Gateway,
  GatewayClass,
  HttpRoute,
  Listener,
  ParentReference,
} from "./kinds.ts";
import {
  GATEWAY_GROUP as GROUP,
  type ReferenceSources,
  type Resolved,
  resolveBackend,
  resolveCertificate,
} from "./references.ts";
import { problemOf } from "./rules.ts";

/** The Service behind a reference; undefined if it is not resolved. */
export type BackendOf = (reference: BackendReference) => Backend | undefined;

export interface GatewaySources extends ReferenceSources {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  /** Those of GRPCRoutes by `asHttpRoute`. */
  readonly routes: readonly HttpRoute[];
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** The ports that are served, with their protocols. */
  readonly ports: ReadonlyMap<number, "HTTP" | "HTTPS">;
  /** spec.controllerName of the GatewayClasses that are served here. */
  readonly controller: string;
}

/** A route on one listener. */
export interface AttachedRoute {
  readonly route: HttpRoute;
  readonly port: number;
  readonly scheme: "http" | "https";
  /** An empty one matches all hosts. */
  readonly hosts: readonly string[];
  readonly backendOf: BackendOf;
}

export interface ListenerCertificate {
  readonly gateway: string;
  readonly host: string;
  /** `namespace/name`. */
  readonly secret: string;
}

export interface SeenListener {
  readonly listener: Listener;
  readonly accepted: Condition;
  readonly resolved: Condition;
  readonly attached: number;
}

export interface Attachments {
  readonly classes: readonly GatewayClass[];
  readonly gateways: ReadonlyMap<Gateway, readonly SeenListener[]>;
  /** For each route: the conditions of each of its parents that is served here. */
  readonly parents: ReadonlyMap<
    HttpRoute,
    readonly { readonly parent: ParentReference; readonly accepted: Condition; readonly resolved: Condition }[]
  >;
  readonly routes: readonly AttachedRoute[];
  readonly certificates: readonly ListenerCertificate[];
}

export function attach(sources: GatewaySources): Attachments {
  const classes = sources.classes.filter(({ spec }) => spec?.controllerName === sources.controller);
  const names = new Set(classes.map(({ metadata }) => metadata.name));
  const own = sources.gateways.filter(({ spec }) => names.has(spec?.gatewayClassName));
  const byKey = new Map(own.map((gateway) => [objectKey(gateway), gateway]));
  const counts = new Map<Listener, number>();
  const routes: AttachedRoute[] = [];
  const parents = new Map<HttpRoute, { parent: ParentReference; accepted: Condition; resolved: Condition }[]>();
  for (const route of sources.routes) {
    const resolved = resolvedCondition(backendsOf(route, sources));
    for (const parent of route.spec?.parentRefs ?? []) {
      const gateway = parentOf(route, parent, byKey);
      if (gateway === undefined) continue;
      const outcome = attachTo(route, parent, gateway, sources);
      const list = parents.get(route) ?? [];
      parents.set(route, [...list, { parent, accepted: outcome.accepted, resolved }]);
      routes.push(...outcome.routes);
      for (const listener of outcome.listeners) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    }
  }
  const seen = own.map((gateway): [Gateway, SeenListener[]] => [
    gateway,
    (gateway.spec?.listeners ?? []).map((listener) => ({
      listener,
      accepted: listenerCondition(listener, sources),
      resolved: listenerReferences(listener, gateway, sources),
      attached: counts.get(listener) ?? 0,
    })),
  ]);
  return {
    classes,
    gateways: new Map(seen),
    parents,
    routes,
    certificates: own.flatMap((gateway) => certificatesOf(gateway, sources)),
  };
}

function parentOf(route: HttpRoute, parent: ParentReference, gateways: ReadonlyMap<string, Gateway>) {
  if ((parent.group ?? GROUP) !== GROUP || (parent.kind ?? "Gateway") !== "Gateway") return undefined;
  return gateways.get(`${parent.namespace ?? route.metadata.namespace}/${parent.name}`);
}

function attachTo(route: HttpRoute, parent: ParentReference, gateway: Gateway, sources: GatewaySources) {
  const refused = (reason: string, message: string) => ({ accepted: no(reason, message), routes: [], listeners: [] });
  const problem = problemOf(route);
  if (problem !== undefined) return refused("UnsupportedValue", problem);
  const named = (gateway.spec?.listeners ?? []).filter(
    ({ name, port }) =>
      (parent.sectionName === undefined || parent.sectionName === name) &&
      (parent.port === undefined || parent.port === port),
  );
  if (named.length === 0) return refused("NoMatchingParent", "the Gateway has no matching listener");
  const served = named.filter((listener) => listenerCondition(listener, sources).status === "True");
  const open = served.filter((listener) => allows(listener, gateway, route, sources.namespaces));
  if (open.length === 0) return refused("NotAllowedByListeners", "no listener allows routes from this Namespace");
  const backendOf: BackendOf = (reference) => {
    const { key } = resolveBackend(referrer(route), reference, sources);
    if (key === undefined || reference.port === undefined) return undefined;
    // gRPC needs HTTP/2, whatever the Service says.
    return { service: key, port: reference.port, ...(isGrpcRoute(route) && { http2: true }) };
  };
  const attached = open.flatMap((listener) => {
    const hosts = sharedHosts(listener.hostname, route.spec?.hostnames ?? []);
    const scheme = listener.protocol === "HTTPS" ? ("https" as const) : ("http" as const);
    return hosts.length === 0 ? [] : [{ listener, served: { route, port: listener.port, scheme, hosts, backendOf } }];
  });
  if (attached.length === 0) return refused("NoMatchingListenerHostname", "no listener has a matching hostname");
  return {
    accepted: yes("Accepted", "the route is served"),
    routes: attached.map((each) => each.served),
    listeners: attached.map(({ listener }) => listener),
  };
}

function listenerCondition({ port, protocol, tls }: Listener, { ports }: GatewaySources): Condition {
  if (protocol !== "HTTP" && protocol !== "HTTPS") return no("UnsupportedProtocol", `${protocol} is not supported`);
  if (ports.get(port) !== protocol) {
    const served = [...ports].map(([each, of]) => `${of} at ${each}`).join(" and ");
    return no("PortUnavailable", `only ${served} is served`);
  }
  if (tls?.mode === "Passthrough") return no("UnsupportedProtocol", "TLS passthrough is not supported");
  return yes("Accepted", "the listener is served");
}

function allows(
  { allowedRoutes }: Listener,
  gateway: Gateway,
  route: HttpRoute,
  namespaces: ReadonlyMap<string, Labels>,
): boolean {
  const { kinds = [], namespaces: from = {} } = allowedRoutes ?? {};
  const isKind = kinds.length === 0 || kinds.some((each) => isServedKind(each) && each.kind === kindOf(route));
  if (!isKind) return false;
  if (from.from === "All") return true;
  if (from.from === "Selector") {
    return matcherOfSelector(from.selector ?? {}).matches(namespaces.get(route.metadata.namespace ?? ""));
  }
  return route.metadata.namespace === gateway.metadata.namespace;
}

function certificatesOf(gateway: Gateway, sources: GatewaySources): ListenerCertificate[] {
  const from = { kind: "Gateway", namespace: gateway.metadata.namespace ?? "" } as const;
  return (gateway.spec?.listeners ?? [])
    .filter(({ protocol }) => protocol === "HTTPS")
    .flatMap(({ hostname = "", tls }) =>
      (tls?.certificateRefs ?? []).flatMap((reference) => {
        const { key } = resolveCertificate(from, reference, sources);
        return key === undefined ? [] : [{ gateway: objectKey(gateway), host: hostname, secret: key }];
      }),
    );
}

/** Including the backends of mirrors. */
function backendsOf(route: HttpRoute, sources: GatewaySources): Resolved[] {
  const rules = route.spec?.rules ?? [];
  const references = rules.flatMap(({ backendRefs = [], filters = [] }) => [
    ...backendRefs,
    ...filters.flatMap(({ requestMirror }) => requestMirror?.backendRef ?? []),
  ]);
  return references.map((reference) => resolveBackend(referrer(route), reference, sources));
}

function kindOf(route: HttpRoute): "HTTPRoute" | "GRPCRoute" {
  return isGrpcRoute(route) ? "GRPCRoute" : "HTTPRoute";
}

function referrer(route: HttpRoute) {
  return { kind: kindOf(route), namespace: route.metadata.namespace ?? "" };
}

function listenerReferences(listener: Listener, gateway: Gateway, sources: GatewaySources): Condition {
  const { kinds = [] } = listener.allowedRoutes ?? {};
  const odd = kinds.find((each) => !isServedKind(each));
  if (odd !== undefined) return { ...no("InvalidRouteKinds", `${odd.kind} is not supported`), type: "ResolvedRefs" };
  const from = { kind: "Gateway", namespace: gateway.metadata.namespace ?? "" } as const;
  const references = listener.protocol === "HTTPS" ? (listener.tls?.certificateRefs ?? []) : [];
  return resolvedCondition(references.map((reference) => resolveCertificate(from, reference, sources)));
}

/** Of listeners that terminate HTTP or HTTPS. */
export const SERVED_KINDS = [
  { group: GROUP, kind: "HTTPRoute" },
  { group: GROUP, kind: "GRPCRoute" },
];

export function isServedKind({ group = GROUP, kind }: { readonly group?: string; readonly kind: string }): boolean {
  return SERVED_KINDS.some((each) => each.group === group && each.kind === kind);
}

function resolvedCondition(all: readonly Resolved[]): Condition {
  const problem = all.find((each) => each.key === undefined);
  const condition =
    problem?.key === undefined && problem !== undefined
      ? no(problem.reason, problem.message)
      : yes("ResolvedRefs", "all references are resolved");
  return { ...condition, type: "ResolvedRefs" };
}

export function yes(reason: string, message: string): Condition {
  return { type: "Accepted", status: "True", reason, message };
}

export function no(reason: string, message: string): Condition {
  return { type: "Accepted", status: "False", reason, message };
}
