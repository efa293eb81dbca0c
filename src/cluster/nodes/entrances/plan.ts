/**
 * Which ports of this machine lead where. Pure.
 *
 *     Ingresses, Gateways          localhost:80, :443     ──► the ingress, on the switch
 *     LoadBalancer 10.88.N.x       127.88.N.x:PORT        ──► its address, by a node
 *     NodePort                     localhost:NODEPORT     ──► a node
 *     publication                  localhost:PORT         ──► endpoints of the Service
 *
 * 1. What the user publishes goes before all others where both want the same port.
 */
import type { core, discovery } from "#api";
import { chooseEndpoints } from "#network";
import { balancerAddresses, nodeFor } from "../network/balancer-routes.ts";
import type { Protocol, Publication } from "./publication.ts";
import type { DoorKind } from "./records.ts";

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Door {
  readonly kind: DoorKind;
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** For users. */
  readonly to: string;
  /** In the order in which to try them; none: nobody is there. */
  readonly targets: readonly Target[];
}

export interface PlanSources {
  readonly publications: readonly Publication[];
  /** False: only publications. */
  readonly localhost: boolean;
  readonly services: readonly core.Service[];
  readonly nodes: readonly core.Node[];
  /** Where the ingress is, with the ports of this machine that lead to its ports. */
  readonly ingress?: { readonly address: string; readonly ports: ReadonlyMap<number, number> } | undefined;
  slicesOf(service: core.Service): readonly discovery.EndpointSlice[];
}

const LOOPBACK = ["127.0.0.1", "::1"];
const ANYWHERE = { name: "", addresses: [], podCidrs: [] };

/** The address of localhost that stands for one of a load balancer: `127.88.7.1` for `10.88.7.1`. */
export function localAddressOf(address: string): string | undefined {
  const [, ...rest] = address.split(".");
  return rest.length === 3 ? ["127", ...rest].join(".") : undefined;
}

export function planDoors(sources: PlanSources): Door[] {
  const all = [
    ...sources.publications.flatMap((publication) => published(publication, sources)),
    ...(sources.localhost ? automatic(sources) : []),
  ];
  const first = new Map<string, Door>();
  for (const door of all) {
    const key = keyOf(door);
    if (!first.has(key)) first.set(key, door);
  }
  return [...first.values()];
}

/** Two doors of the same key are the same place. */
export function keyOf({ address, port, protocol }: Pick<Door, "address" | "port" | "protocol">): string {
  return `${protocol} ${address.includes(":") ? `[${address}]` : address}:${port}`;
}

function automatic({ services, nodes, ingress, slicesOf }: PlanSources): Door[] {
  const entrance = [...(ingress?.ports ?? [])].flatMap(([port, at]) =>
    LOOPBACK.map((address): Door => {
      const targets = [{ host: ingress?.address ?? "", port }];
      return { kind: "Ingress", address, port: at, protocol: "TCP", to: "Ingresses and Gateways", targets };
    }),
  );
  const ofServices = services.flatMap((service) => {
    const name = `${service.metadata.namespace}/${service.metadata.name}`;
    const node = nodeFor(service, nodes, slicesOf(service));
    return (service.spec?.ports ?? []).flatMap(({ port, nodePort = 0, protocol = "TCP" }): Door[] => {
      if (protocol !== "TCP" && protocol !== "UDP") return [];
      const balanced = balancerAddresses(service).flatMap((address): Door[] => {
        const local = localAddressOf(address);
        if (local === undefined) return [];
        const targets = [{ host: address, port }];
        return [{ kind: "LoadBalancer", address: local, port, protocol, to: `${name}:${port}`, targets }];
      });
      if (nodePort === 0) return balanced;
      const targets = node === undefined ? [] : [{ host: node, port: nodePort }];
      const door = { kind: "NodePort", port: nodePort, protocol, to: `${name}:${port}`, targets } as const;
      return [...balanced, ...LOOPBACK.map((address) => ({ ...door, address }))];
    });
  });
  return [...entrance, ...ofServices];
}

function published(publication: Publication, { services, slicesOf }: PlanSources): Door[] {
  const { address, hostPort, namespace, service: name, port: wanted, protocol } = publication;
  const service = services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const found = service?.spec?.ports?.find(
    (each) => (each.name === wanted || String(each.port) === wanted) && (each.protocol ?? "TCP") === protocol,
  );
  const targets = service === undefined || found === undefined ? [] : endpointsOf(service, found, protocol, slicesOf);
  const to = `${namespace}/${name}:${wanted}`;
  return (address === undefined ? LOOPBACK : [address]).map((at) => {
    return { kind: "published", address: at, port: hostPort, protocol, to, targets };
  });
}

function endpointsOf(
  service: core.Service,
  { name = "" }: core.ServicePort,
  protocol: Protocol,
  slicesOf: PlanSources["slicesOf"],
): Target[] {
  const slices = slicesOf(service);
  for (const family of ["IPv4", "IPv6"] as const) {
    const { cluster } = chooseEndpoints(slices, name, protocol, family, ANYWHERE);
    if (cluster.length > 0) return cluster.map(({ address, port }) => ({ host: address, port }));
  }
  return [];
}
