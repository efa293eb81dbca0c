/**
 * Which endpoints of a Service get its traffic on one node.
 *
 * 1. The ready ones; if there are none, those that are terminating but still serving.
 * 2. If all of them have topology hints, only those with a hint for this node or its zone, unless there is none.
 * 3. Traffic policy Local selects the endpoints on this node, whatever the hints.
 */
import type { discovery } from "#api";

/** The node label with the node's zone. */
export const ZONE = "topology.kubernetes.io/zone";

export interface NodeFacts {
  readonly name: string;
  readonly zone?: string | undefined;
  /** Addresses that serve node ports. */
  readonly addresses: readonly string[];
  /** Traffic to a Service from outside of these is masqueraded. */
  readonly podCidrs: readonly string[];
}

/** `namespace/name` of the Service that a slice belongs to. */
export function serviceKeyOf({ metadata }: discovery.EndpointSlice): string | undefined {
  const name = metadata.labels?.["kubernetes.io/service-name"];
  return name === undefined ? undefined : `${metadata.namespace}/${name}`;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly isLocal: boolean;
}

type EndpointSlice = discovery.EndpointSlice;
type ApiEndpoint = discovery.Endpoint;

interface Candidate extends Endpoint {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly hints: ApiEndpoint["hints"];
}

export interface EndpointChoice {
  /** For traffic that may go anywhere in the cluster. */
  readonly cluster: readonly Endpoint[];
  /** For traffic that has to stay on this node. */
  readonly local: readonly Endpoint[];
}

/** `port`: the name of the Service's port. */
export function chooseEndpoints(
  slices: readonly EndpointSlice[],
  port: string,
  protocol: string,
  family: "IPv4" | "IPv6",
  node: NodeFacts,
): EndpointChoice {
  const all = slices
    .filter(({ addressType }) => addressType === family)
    .flatMap((slice) => candidatesOf(slice, port, protocol, node));
  const usable = oncePerAddress(all);
  const ready = usable.filter((each) => each.ready);
  const cluster = ready.length > 0 ? hinted(ready, node) : usable.filter(servesWhileTerminating);
  const localReady = ready.filter((each) => each.isLocal);
  const local =
    localReady.length > 0 ? localReady : usable.filter((each) => each.isLocal && servesWhileTerminating(each));
  return { cluster: cluster.map(endpoint), local: local.map(endpoint) };
}

function candidatesOf(slice: EndpointSlice, portName: string, protocol: string, node: NodeFacts): Candidate[] {
  const ports = (slice.ports ?? []).filter(
    (port) => (port.name ?? "") === portName && (port.protocol ?? "TCP") === protocol && port.port !== undefined,
  );
  return ports.flatMap(({ port = 0 }) =>
    (slice.endpoints ?? []).flatMap(({ addresses, conditions, nodeName, hints }) => {
      const [address] = addresses;
      if (address === undefined) return [];
      const ready = conditions?.ready !== false;
      const terminating = conditions?.terminating === true;
      const serving = conditions?.serving ?? ready;
      return [{ address, port, isLocal: nodeName === node.name, ready, serving, terminating, hints }];
    }),
  );
}

/** An endpoint may be in two slices while it moves from one to the other: it counts once. */
function oncePerAddress(candidates: readonly Candidate[]): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const each of candidates) {
    const key = `${each.address} ${each.port}`;
    const known = found.get(key);
    if (known === undefined || (!known.ready && each.ready)) found.set(key, each);
  }
  return [...found.values()].sort(byAddress);
}

function servesWhileTerminating({ serving, terminating }: Candidate): boolean {
  return serving && terminating;
}

function hinted(ready: readonly Candidate[], { name, zone }: NodeFacts): readonly Candidate[] {
  const forNode = (each: Candidate) => each.hints?.forNodes?.some((node) => node.name === name) === true;
  if (ready.every((each) => (each.hints?.forNodes ?? []).length > 0)) {
    const meant = ready.filter(forNode);
    if (meant.length > 0) return meant;
  }
  if (zone === undefined || !ready.every((each) => (each.hints?.forZones ?? []).length > 0)) return ready;
  const meant = ready.filter((each) => each.hints?.forZones?.some((hint) => hint.name === zone));
  return meant.length > 0 ? meant : ready;
}

function endpoint({ address, port, isLocal }: Candidate): Endpoint {
  return { address, port, isLocal };
}

/** A stable order, so that reordered slices cause no change. */
function byAddress(a: Endpoint, b: Endpoint): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : a.port - b.port;
}
