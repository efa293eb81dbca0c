/**
 * Proxies: the path behind `…/proxy` is a path of a pod, a service or a node.
 *
 *     /api/v1/namespaces/NS/pods/[https:]NAME[:PORT]/proxy/PATH
 *
 * 1. The port of a Pod is a number, that of a Service a number or a name. No port means the first of a Pod's, and that
 *    of a Service which has no name.
 */
import { badRequest, type core, notFound, parseIp, serviceUnavailable } from "#api";
import { metricsContentType } from "#base";
import type { Authorizer } from "../authz/authorizer.ts";
import { readyEndpoints } from "../outbound/endpoints.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { Connector } from "./connector.ts";
import { demandCreate } from "./demand-create.ts";
import { forward, forwardUpgrade, type Target, Unreachable } from "./forward.ts";
import { kubeletAddress, kubeletTarget, type PodConnections, refuseSimulated } from "./kubelet-target.ts";
import { proxiedAnswer } from "./proxied-answer.ts";

interface Place {
  readonly secure: boolean;
  readonly name: string;
  /** A number, or a name; "" if there is none. */
  readonly port: string;
}

type Found = Pick<Target, "secure" | "host" | "port" | "tls">;

export function podProxy({ pods, nodes }: PodConnections): Connector {
  return proxy("pod", ({ namespace }, { secure, name, port }) => {
    const stored = pods.cache.get(pods.suffix(namespace, name));
    if (stored === undefined) throw notFound(pods.groupResource, name);
    const { spec, status } = pods.read(stored) as core.Pod;
    refuseSimulated(nodes, spec?.nodeName ?? "");
    const first = spec?.containers?.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
    const host = proxyable(status?.podIP ?? "");
    return { secure, host, port: port === "" ? (first ?? (secure ? 443 : 80)) : portNumber(port) };
  });
}

/** Requires the right to create: a kubelet runs commands for every client that may connect. */
export function nodeProxy(connections: PodConnections, authorize: Authorizer): Connector {
  const passOn = proxy("node", (_, { secure, name, port }) => {
    const { host, port: own } = kubeletAddress(connections.nodes, name, connections.kubelets);
    if (port === "" || Number(port) === own) return kubeletTarget(connections, name);
    return { secure, host: proxyable(host), port: Number(port) };
  });
  return async (request, exchange) => {
    if (exchange.isUpgrade === true) await demandCreate(authorize, request, exchange.path);
    const text = connections.simulatedMetrics?.(request.name, behindProxy(exchange.path, exchange.query, false));
    if (text !== undefined)
      return { status: 200, headers: { "content-type": metricsContentType }, body: [Buffer.from(text)] };
    return await passOn(request, exchange);
  };
}

/** One of the ready endpoints. */
export function serviceProxy(services: Resource, slices: Resource): Connector {
  return proxy("service", ({ namespace, context }, { secure, name, port }) => {
    const stored = services.cache.get(services.suffix(namespace, name));
    if (stored === undefined) throw notFound(services.groupResource, name);
    const { spec } = services.read(stored) as core.Service;
    const ready = readyEndpoints(slices, namespace, name, portName(port, name, spec?.ports ?? []));
    if (ready.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
    const { host, port: number } = context.random.pick(ready);
    return { secure, host: proxyable(host), port: number };
  });
}

function portName(port: string, service: string, ports: readonly core.ServicePort[]): string {
  if (!/^\d+$/.test(port)) return port;
  const found = ports.find((each) => each.port === Number(port));
  if (found === undefined)
    throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(service)}`);
  return found.name ?? "";
}

/** Names are those of /etc/services, not of the Pod's ports. */
function portNumber(port: string): number {
  const number = { http: 80, https: 443 }[port] ?? Number(port);
  if (number >= 0 && number <= 65535) return number;
  const why = Number.isNaN(number) ? `lookup tcp/${port}: unknown port` : `address ${port}: invalid port`;
  throw serviceUnavailable(`error trying to reach service: dial tcp: ${why}`);
}

function proxy(what: string, find: (request: RestRequest, place: Place) => Found): Connector {
  return async (request, exchange) => {
    const found = find(request, placeOf(request.name, what));
    const namespaced = request.namespace !== "";
    const { path: asked, query, isUpgrade = false } = exchange;
    // Relative links on the page must resolve below this path.
    if (!isUpgrade && isBare(asked, namespaced) && ["GET", "HEAD"].includes(exchange.method))
      return { status: 301, headers: { location: `${asked}/${query.size > 0 ? `?${query}` : ""}` }, body: [] };
    const path = behindProxy(asked, query, namespaced);
    try {
      const { clock, egress } = request.context;
      const target = { ...found, path, dial: egress?.cluster };
      if (isUpgrade) return await forwardUpgrade(target, exchange, clock);
      const parts = asked.split("/");
      const through = {
        prefix: parts.slice(0, namespaced ? 8 : 6).join("/"),
        hosts: [hostAndPort(found), exchange.headers.host ?? ""],
      };
      return await forward(target, exchange, clock, (answer) => proxiedAnswer(answer, through));
    } catch (error) {
      if (error instanceof Unreachable) throw serviceUnavailable(`error trying to reach service: ${error.message}`);
      throw error;
    }
  };
}

/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. */
function placeOf(text: string, what: string): Place {
  const parts = text.split(":");
  const [scheme = "", name = "", port = ""] = parts.length < 3 ? ["", ...parts] : parts;
  if (parts.length > 3 || name === "" || !["", "http", "https"].includes(scheme))
    throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`);
  return { secure: scheme === "https", name, port };
}

const hostAndPort = ({ host, port }: Found) => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** The path ends with `proxy`, without a slash. */
function isBare(path: string, namespaced: boolean): boolean {
  return path.split("/").length === (namespaced ? 8 : 6);
}

/** The path behind the subresource `proxy`, wherever else that word occurs. */
export function behindProxy(path: string, query: URLSearchParams, namespaced: boolean): string {
  const rest = path
    .split("/")
    .slice(namespaced ? 8 : 6)
    .join("/");
  return `/${rest}${query.size > 0 ? `?${query}` : ""}`;
}

/** Allows only global unicast addresses: not this machine's loopback device, nor link-local or multicast. */
function proxyable(host: string): string {
  const bytes = parseIp(host)?.bytes;
  if (bytes === undefined || !isGlobalUnicast(bytes)) throw badRequest("address not allowed");
  return host;
}

function isGlobalUnicast(bytes: readonly number[]): boolean {
  const [first = 0, second = 0] = bytes;
  if (bytes.every((byte) => byte === 0)) return false;
  if (bytes.length === 4) return first !== 127 && first < 224 && !(first === 169 && second === 254);
  const loopback = bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1;
  return !loopback && first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
}
