/** The endpoint of a Pod. */
import { type core, type discovery, equalJson, type Json } from "#api";
import { isEnding, isReady } from "../pods/index.ts";
import { addressesOf, hostnameFor, type IpFamily, targetPort } from "../services/index.ts";
import { ZONE } from "./zone-shares.ts";

export type Endpoint = discovery.Endpoint;
export type EndpointPort = discovery.EndpointPort;

/** `distribution`: spec.trafficDistribution, if each endpoint's hints follow from it. */
export function endpointOf(
  pod: core.Pod,
  node: core.Node | undefined,
  service: core.Service,
  family: IpFamily,
  distribution = service.spec?.trafficDistribution,
): Endpoint {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const serving = isReady(pod);
  const terminating = isEnding(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { nodeName = "" } = pod.spec ?? {};
  const zone = node?.metadata.labels?.[ZONE] ?? "";
  const hostname = hostnameFor(pod, service);
  const endpoint: Endpoint = {
    addresses: addressesOf(pod, family),
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== "" && { nodeName }),
    ...(zone !== "" && { zone }),
  };
  const hints = hintsFor(endpoint, distribution);
  return hints === undefined ? endpoint : { ...endpoint, hints };
}

/** Hints for the endpoint's own zone or node. */
function hintsFor({ conditions, zone, nodeName }: Endpoint, distribution = ""): discovery.EndpointHints | undefined {
  const close = ["PreferClose", "PreferSameZone", "PreferSameNode"].includes(distribution);
  if (!close || conditions?.ready !== true) return undefined;
  const hints = {
    ...(zone !== undefined && { forZones: [{ name: zone }] }),
    ...(nodeName !== undefined && distribution === "PreferSameNode" && { forNodes: [{ name: nodeName }] }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}

/** The Service's ports as container ports; a named port that the Pod does not have is left out. */
export function portsOf(pod: core.Pod, service: core.Service): readonly EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((each) => {
    const port = targetPort(pod, each);
    if (port === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = each;
    return [{ name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

/** Endpoints with the same identity are the same endpoint in another version. */
export function identityOf({ addresses, hostname = "", targetRef }: Endpoint): string {
  return [targetRef?.namespace, targetRef?.name, hostname, ...[...addresses].sort()].join("/");
}

export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return equalJson(a as unknown as Json, b as unknown as Json);
}

/** Identifies a set of ports, independent of order. Each slice has one set. */
export function portsKey(ports: readonly EndpointPort[] | undefined): string {
  return (ports ?? [])
    .map(({ name = "", protocol = "TCP", port = 0, appProtocol = "" }) => [name, protocol, port, appProtocol].join("/"))
    .sort()
    .join(",");
}
