/**
 * Which listeners of Gateways are served, what they take, and their certificates, as documented by the Gateway API.
 * Pure.
 *
 *     HTTP, HTTPS ──► HTTPRoute, GRPCRoute      at the ports of the HTTP proxy
 *     TLS         ──► TLSRoute, and TCPRoute where TLS ends here; at the HTTPS port, too
 *     TCP         ──► TCPRoute                  at any other port
 *
 * 1. A listener with an unserved port or protocol is not accepted; the other listeners of its Gateway are.
 * 2. A port has one protocol, but for HTTPS and TLS, which share one by the names that clients ask for.
 */
import { type Labels, matcherOfSelector } from "#api";
import { objectKey } from "#client";
import { no, resolvedCondition, yes } from "./conditions.ts";
import type { Condition, Gateway, Listener } from "./kinds.ts";
import { GATEWAY_GROUP as GROUP, type ReferenceSources, resolveCertificate } from "./references.ts";
import { type AnyRoute, kindOf, type RouteKind } from "./route-kinds.ts";

export interface ListenerSources extends ReferenceSources {
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** The ports of the HTTP proxy, with their protocols. */
  readonly ports: ReadonlyMap<number, "HTTP" | "HTTPS">;
  /** Other ports that could not be opened, and why. */
  readonly closedPorts?: ReadonlyMap<number, string> | undefined;
}

export interface ListenerCertificate {
  readonly gateway: string;
  readonly host: string;
  /** `namespace/name`. */
  readonly secret: string;
}

/** Of each protocol that is served. */
const KINDS: ReadonlyMap<string, readonly RouteKind[]> = new Map([
  ["HTTP", ["HTTPRoute", "GRPCRoute"]],
  ["HTTPS", ["HTTPRoute", "GRPCRoute"]],
  ["TLS", ["TLSRoute"]],
  ["TCP", ["TCPRoute"]],
]);

export function kindsOf(listener: Listener): readonly RouteKind[] {
  const kinds = KINDS.get(listener.protocol) ?? [];
  return listener.protocol === "TLS" && endsTls(listener) ? [...kinds, "TCPRoute"] : kinds;
}

export function endsTls({ protocol, tls }: Listener): boolean {
  return (protocol === "HTTPS" || protocol === "TLS") && (tls?.mode ?? "Terminate") === "Terminate";
}

export function isServedKind(listener: Listener, { group = GROUP, kind }: KindReference): boolean {
  return group === GROUP && kindsOf(listener).some((each) => each === kind);
}

interface KindReference {
  readonly group?: string;
  readonly kind: string;
}

/** What its status shows: those of the allowed kinds that are served. */
export function supportedKinds(listener: Listener): { group: string; kind: string }[] {
  const allowed = listener.allowedRoutes?.kinds;
  return kindsOf(listener)
    .filter(
      (kind) => allowed === undefined || allowed.some((each) => each.kind === kind && isServedKind(listener, each)),
    )
    .map((kind) => ({ group: GROUP, kind }));
}

export function listenerCondition(listener: Listener, { ports, closedPorts }: ListenerSources): Condition {
  const { port, protocol, tls } = listener;
  if (!KINDS.has(protocol)) return no("UnsupportedProtocol", `${protocol} is not supported`);
  const isPassthrough = tls?.mode === "Passthrough";
  if (protocol === "HTTPS" && isPassthrough)
    return no("UnsupportedProtocol", "TLS passthrough needs the protocol TLS and a TLSRoute");
  const proxied = ports.get(port);
  if (protocol === "HTTP" || protocol === "HTTPS") {
    if (proxied === protocol) return yes("Accepted", "the listener is served");
    const served = [...ports].map(([each, of]) => `${of} at ${each}`).join(" and ");
    return no("PortUnavailable", `only ${served} is served`);
  }
  if (proxied !== undefined && !(proxied === "HTTPS" && protocol === "TLS"))
    return no("PortUnavailable", `${proxied} is served at ${port}`);
  const closed = closedPorts?.get(port);
  return closed === undefined ? yes("Accepted", "the listener is served") : no("PortUnavailable", closed);
}

/** Listeners that ask for a port which another one has with another protocol. The first one keeps it. */
export function conflicted(gateways: readonly Gateway[]): ReadonlySet<Listener> {
  const protocols = new Map<number, string>();
  const losers = new Set<Listener>();
  for (const listener of gateways.flatMap(({ spec }) => spec?.listeners ?? [])) {
    const own = listener.protocol === "HTTPS" ? "TLS" : listener.protocol;
    const taken = protocols.get(listener.port) ?? own;
    protocols.set(listener.port, taken);
    if (taken !== own) losers.add(listener);
  }
  return losers;
}

export function allows(
  listener: Listener,
  gateway: Gateway,
  route: AnyRoute,
  namespaces: ReadonlyMap<string, Labels>,
): boolean {
  const { namespaces: from = {} } = listener.allowedRoutes ?? {};
  if (!supportedKinds(listener).some(({ kind }) => kind === kindOf(route))) return false;
  if (from.from === "All") return true;
  if (from.from === "Selector")
    return matcherOfSelector(from.selector ?? {}).matches(namespaces.get(route.metadata.namespace ?? ""));
  return from.from !== "None" && route.metadata.namespace === gateway.metadata.namespace;
}

export function listenerReferences(listener: Listener, gateway: Gateway, sources: ListenerSources): Condition {
  const { kinds = [] } = listener.allowedRoutes ?? {};
  const odd = kinds.find((each) => !isServedKind(listener, each));
  if (odd !== undefined) return { ...no("InvalidRouteKinds", `${odd.kind} is not supported`), type: "ResolvedRefs" };
  return resolvedCondition(certificateReferences(listener, gateway, sources));
}

export function certificatesOf(gateway: Gateway, sources: ListenerSources): ListenerCertificate[] {
  return (gateway.spec?.listeners ?? []).flatMap((listener) =>
    certificateReferences(listener, gateway, sources).flatMap(({ key }) =>
      key === undefined ? [] : [{ gateway: objectKey(gateway), host: listener.hostname ?? "", secret: key }],
    ),
  );
}

function certificateReferences(listener: Listener, gateway: Gateway, sources: ListenerSources) {
  const from = { kind: "Gateway", namespace: gateway.metadata.namespace ?? "" } as const;
  const references = endsTls(listener) ? (listener.tls?.certificateRefs ?? []) : [];
  return references.map((reference) => resolveCertificate(from, reference, sources));
}
