/**
 * Which listeners serve which routes, and the conditions that follow, as documented by the Gateway API. Pure.
 *
 * 1. A listener serves routes that name its Gateway as a parent, come from a Namespace that it allows, and share a host
 *    with it.
 * 2. An unresolved reference (`references.ts`) costs a route the requests that would go there, and a listener its
 *    certificate; the rest is served.
 */
import { objectKey } from "#client";
import type { Backend } from "../http/route.ts";
import { no, resolvedCondition, yes } from "./conditions.ts";
import { sharedHosts } from "./hosts.ts";
import type { BackendReference, Condition, Gateway, GatewayClass, Listener, ParentReference } from "./kinds.ts";
import {
  allows,
  certificatesOf,
  conflicted,
  endsTls,
  kindsOf,
  type ListenerCertificate,
  type ListenerSources,
  listenerCondition,
  listenerReferences,
} from "./listeners.ts";
import { GATEWAY_GROUP as GROUP, type Resolved, resolveBackend } from "./references.ts";
import { type AnyRoute, kindOf } from "./route-kinds.ts";
import { problemOf } from "./rules.ts";

const SCHEMES = { HTTP: "http", HTTPS: "https", TLS: "tls", TCP: "tcp" } as const;

/** The Service behind a reference; undefined if it is not resolved. */
export type BackendOf = (reference: BackendReference) => Backend | undefined;

export interface GatewaySources extends ListenerSources {
  readonly classes: readonly GatewayClass[];
  readonly gateways: readonly Gateway[];
  readonly routes: readonly AnyRoute[];
  /** spec.controllerName of the GatewayClasses that are served here. */
  readonly controller: string;
}

/** A route on one listener. */
export interface AttachedRoute {
  readonly route: AnyRoute;
  /** `namespace/name`. */
  readonly gateway: string;
  readonly port: number;
  /** `tls`: passed through, or ended here. */
  readonly scheme: "http" | "https" | "tls" | "tcp";
  /** Of connections over TLS: whether it ends here. */
  readonly endsTls: boolean;
  /** An empty one matches all hosts. */
  readonly hosts: readonly string[];
  readonly backendOf: BackendOf;
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
    AnyRoute,
    readonly { readonly parent: ParentReference; readonly accepted: Condition; readonly resolved: Condition }[]
  >;
  readonly routes: readonly AttachedRoute[];
  readonly certificates: readonly ListenerCertificate[];
  /** What listeners of the HTTPS port end themselves: no TLSRoute takes these hosts from them. */
  readonly httpsHosts: readonly { readonly port: number; readonly host: string }[];
  /** Ports of their own that listeners ask for. */
  readonly streamPorts: ReadonlySet<number>;
}

export function attach(sources: GatewaySources): Attachments {
  const classes = sources.classes.filter(({ spec }) => spec?.controllerName === sources.controller);
  const names = new Set(classes.map(({ metadata }) => metadata.name));
  const own = sources.gateways.filter(({ spec }) => names.has(spec?.gatewayClassName));
  const byKey = new Map(own.map((gateway) => [objectKey(gateway), gateway]));
  const counts = new Map<Listener, number>();
  const losers = conflicted(own);
  const accepted = (listener: Listener) =>
    losers.has(listener)
      ? no("ProtocolConflict", `another listener has another protocol at ${listener.port}`)
      : listenerCondition(listener, sources);
  const routes: AttachedRoute[] = [];
  const parents = new Map<AnyRoute, { parent: ParentReference; accepted: Condition; resolved: Condition }[]>();
  for (const route of sources.routes) {
    const resolved = resolvedCondition(backendsOf(route, sources));
    for (const parent of route.spec?.parentRefs ?? []) {
      const gateway = parentOf(route, parent, byKey);
      if (gateway === undefined) continue;
      const outcome = attachTo(route, parent, gateway, accepted, sources);
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
      accepted: accepted(listener),
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
    httpsHosts: seen.flatMap(([, listeners]) =>
      listeners.flatMap(({ listener: { protocol, port, hostname = "" }, accepted: { status } }) =>
        protocol === "HTTPS" && status === "True" ? [{ port, host: hostname.toLowerCase() }] : [],
      ),
    ),
    streamPorts: new Set(
      own
        .flatMap(({ spec }) => spec?.listeners ?? [])
        .filter(({ port, protocol }) => (protocol === "TCP" || protocol === "TLS") && !sources.ports.has(port))
        .map(({ port }) => port),
    ),
  };
}

function parentOf(route: AnyRoute, parent: ParentReference, gateways: ReadonlyMap<string, Gateway>) {
  if ((parent.group ?? GROUP) !== GROUP || (parent.kind ?? "Gateway") !== "Gateway") return undefined;
  return gateways.get(`${parent.namespace ?? route.metadata.namespace}/${parent.name}`);
}

function attachTo(
  route: AnyRoute,
  parent: ParentReference,
  gateway: Gateway,
  accepted: (listener: Listener) => Condition,
  sources: GatewaySources,
) {
  const refused = (reason: string, message: string) => ({ accepted: no(reason, message), routes: [], listeners: [] });
  const problem = problemOf(route);
  if (problem !== undefined) return refused("UnsupportedValue", problem);
  const named = (gateway.spec?.listeners ?? []).filter(
    ({ name, port }) =>
      (parent.sectionName === undefined || parent.sectionName === name) &&
      (parent.port === undefined || parent.port === port),
  );
  if (named.length === 0) return refused("NoMatchingParent", "the Gateway has no matching listener");
  const served = named.filter((listener) => accepted(listener).status === "True");
  const open = served.filter((listener) => allows(listener, gateway, route, sources.namespaces));
  if (open.length === 0) {
    const isKind = served.some((listener) => kindsOf(listener).includes(kindOf(route)));
    const what = isKind ? "routes from this Namespace" : `routes of the kind ${kindOf(route)}`;
    return refused("NotAllowedByListeners", `no listener allows ${what}`);
  }
  const backendOf: BackendOf = (reference) => {
    const { key } = resolveBackend(referrer(route), reference, sources);
    if (key === undefined || reference.port === undefined) return undefined;
    // gRPC needs HTTP/2, whatever the Service says.
    return { service: key, port: reference.port, ...(kindOf(route) === "GRPCRoute" && { http2: true }) };
  };
  const attached = open.flatMap((listener) => {
    const hosts = sharedHosts(listener.hostname, route.spec?.hostnames ?? []);
    const scheme = SCHEMES[listener.protocol as keyof typeof SCHEMES];
    const served = {
      route,
      gateway: objectKey(gateway),
      port: listener.port,
      scheme,
      endsTls: endsTls(listener),
      hosts,
      backendOf,
    };
    return hosts.length === 0 ? [] : [{ listener, served }];
  });
  if (attached.length === 0) return refused("NoMatchingListenerHostname", "no listener has a matching hostname");
  return {
    accepted: yes("Accepted", "the route is served"),
    routes: attached.map((each) => each.served),
    listeners: attached.map(({ listener }) => listener),
  };
}

/** Including the backends of mirrors. */
function backendsOf(route: AnyRoute, sources: GatewaySources): Resolved[] {
  const rules = route.spec?.rules ?? [];
  const references = rules.flatMap(({ backendRefs = [], filters = [] }) => [
    ...backendRefs,
    ...filters.flatMap(({ requestMirror }) => requestMirror?.backendRef ?? []),
  ]);
  return references.map((reference) => resolveBackend(referrer(route), reference, sources));
}

function referrer(route: AnyRoute) {
  return { kind: kindOf(route), namespace: route.metadata.namespace ?? "" };
}
