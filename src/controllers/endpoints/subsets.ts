/**
 * Packs endpoints into subsets: ports with the same addresses share a subset.
 *
 *     a has 80 and 443, b has 80 and 444    ──►    80: a b    443: a    444: b
 */
import { type core, equalJson, type Json } from "#api";

export type Subset = core.EndpointSubset;
export type Address = core.EndpointAddress;
export type Port = core.EndpointPort;

/** An address with a port; with none if `port` is undefined. */
export interface Offer {
  readonly address: Address;
  readonly port: Port | undefined;
  readonly ready: boolean;
}

export function subsetsOf(offers: readonly Offer[]): readonly Subset[] {
  const byPort = new Map<string, { readonly port: Port | undefined; readonly offers: Map<string, Offer> }>();
  for (const offer of offers) {
    const key = portKey(offer.port);
    const same = byPort.get(key) ?? { port: offer.port, offers: new Map<string, Offer>() };
    byPort.set(key, same);
    same.offers.set(addressKey(offer.address), offer);
  }
  const byAddresses = new Map<string, { readonly ports: Port[]; readonly offers: readonly Offer[] }>();
  for (const { port, offers: found } of byPort.values()) {
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
    const key = sorted.map(([address, { ready }]) => `${address} ${ready}`).join();
    const same = byAddresses.get(key) ?? { ports: [], offers: sorted.map(([, offer]) => offer) };
    byAddresses.set(key, same);
    if (port !== undefined) same.ports.push(port);
  }
  return [...byAddresses.values()].map(({ ports, offers: found }) => {
    const addresses = found.filter(({ ready }) => ready).map(({ address }) => address);
    const notReadyAddresses = found.filter(({ ready }) => !ready).map(({ address }) => address);
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(ports.length > 0 && { ports }),
    };
  });
}

/** All pairs of address and port in the subsets. */
export function offersOf(subsets: readonly Subset[]): readonly Offer[] {
  return subsets.flatMap(({ addresses, notReadyAddresses, ports }) => {
    const all: readonly (Port | undefined)[] = (ports ?? []).length === 0 ? [undefined] : (ports ?? []);
    return all.flatMap((port) => [
      ...(addresses ?? []).map((address) => ({ address, port, ready: true })),
      ...(notReadyAddresses ?? []).map((address) => ({ address, port, ready: false })),
    ]);
  });
}

export function sameSubsets(a: readonly Subset[], b: readonly Subset[]): boolean {
  return equalJson(a as unknown as Json, b as unknown as Json);
}

function addressKey({ ip, targetRef }: Address): string {
  return `${ip} ${targetRef?.uid ?? ""}`;
}

function portKey(port: Port | undefined): string {
  if (port === undefined) return "";
  const { name = "", protocol = "TCP", appProtocol = "" } = port;
  return `${name}/${port.port}/${protocol}/${appProtocol}`;
}
