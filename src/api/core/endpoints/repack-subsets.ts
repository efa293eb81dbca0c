/**
 * The canonical form of a set of endpoints: addresses that offer the same ports stand together.
 *
 * 1. An address that is ready in one subset and not ready in another is not ready.
 * 2. Addresses are sorted; ports and subsets stand in the order of the MD5 of their dump, as in Kubernetes.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../types/core-v1.ts";
import { md5 } from "./md5.ts";

interface Offer {
  readonly port: EndpointPort | undefined;
  /** Whether the address is ready, by its key. */
  readonly ready: Map<string, boolean>;
}

export function repackSubsets(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const known = new Map<string, EndpointAddress>();
  const offers = new Map<string, Offer>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = port === undefined ? "" : portText(port);
      const offer = offers.get(key) ?? { port, ready: new Map<string, boolean>() };
      offers.set(key, offer);
      for (const address of addresses) note(offer, address, true, known);
      for (const address of notReadyAddresses) note(offer, address, false, known);
    }
  }
  const packed = new Map<string, { readonly ready: Offer["ready"]; readonly ports: EndpointPort[] }>();
  for (const { port, ready } of offers.values()) {
    const key = JSON.stringify([...ready].sort(([a], [b]) => (a < b ? -1 : 1)));
    const group = packed.get(key) ?? { ready, ports: [] };
    packed.set(key, group);
    if (port !== undefined) group.ports.push(port);
  }
  const repacked = [...packed.values()].map(({ ready, ports }) => subsetOf(ready, ports, known));
  return byHash(repacked, subsetText);
}

function note({ ready }: Offer, address: EndpointAddress, isReady: boolean, known: Map<string, EndpointAddress>): void {
  const key = `${address.ip} ${address.targetRef?.uid ?? ""}`;
  if (!known.has(key)) known.set(key, address);
  ready.set(key, isReady && (ready.get(key) ?? true));
}

function subsetOf(
  ready: Offer["ready"],
  ports: readonly EndpointPort[],
  known: ReadonlyMap<string, EndpointAddress>,
): EndpointSubset {
  const pick = (wanted: boolean) =>
    [...ready]
      .filter(([, isReady]) => isReady === wanted)
      .flatMap(([key]) => known.get(key) ?? [])
      .sort(addressOrder);
  const [addresses, notReadyAddresses] = [pick(true), pick(false)];
  return {
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(notReadyAddresses.length > 0 ? { notReadyAddresses } : {}),
    ...(ports.length > 0 ? { ports: byHash(ports, portText) } : {}),
  };
}

function addressOrder(a: EndpointAddress, b: EndpointAddress): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  const [x, y] = [a.targetRef?.uid ?? "", b.targetRef?.uid ?? ""];
  return x < y ? -1 : x > y ? 1 : 0;
}

function byHash<T>(items: readonly T[], text: (item: T) => string): readonly T[] {
  return items
    .map((item) => ({ item, hash: md5(text(item)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
    .map(({ item }) => item);
}

// Dumps as Go's spew writes them with %#v.

function portText({ name = "", port, protocol = "TCP", appProtocol }: EndpointPort): string {
  return `(core.EndpointPort){${portFields(name, port, protocol, appProtocol)}}`;
}

function portFields(name: string, port: number, protocol: string, appProtocol: string | undefined): string {
  return `Name:(string)${name} Port:(int32)${port} Protocol:(core.Protocol)${protocol} AppProtocol:(*string)${pointer(appProtocol)}`;
}

function subsetText({ addresses, notReadyAddresses, ports }: EndpointSubset): string {
  const list = (type: string, items: readonly string[] | undefined) =>
    `([]core.${type})${items === undefined ? "<nil>" : `[${items.join(" ")}]`}`;
  const port = (one: EndpointPort) =>
    `{${portFields(one.name ?? "", one.port, one.protocol ?? "TCP", one.appProtocol)}}`;
  return [
    `(core.EndpointSubset){Addresses:${list("EndpointAddress", addresses?.map(addressText))}`,
    `NotReadyAddresses:${list("EndpointAddress", notReadyAddresses?.map(addressText))}`,
    `Ports:${list("EndpointPort", ports?.map(port))}}`,
  ].join(" ");
}

function addressText({ ip, hostname = "", nodeName, targetRef: to }: EndpointAddress): string {
  const target =
    to === undefined
      ? "<nil>"
      : `{Kind:(string)${to.kind ?? ""} Namespace:(string)${to.namespace ?? ""} Name:(string)${to.name ?? ""} UID:(types.UID)${to.uid ?? ""} APIVersion:(string)${to.apiVersion ?? ""} ResourceVersion:(string)${to.resourceVersion ?? ""} FieldPath:(string)${to.fieldPath ?? ""}}`;
  return `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${pointer(nodeName)} TargetRef:(*core.ObjectReference)${target}}`;
}

function pointer(text: string | undefined): string {
  return text === undefined ? "<nil>" : text;
}
