/** The commands for `ip` and `bridge` that turn the present overlay into the wanted one. Pure. */
import type { Overlay, PodRoute, Tunnel } from "./plan.ts";
import { DEVICE, PORT, VNI } from "./vtep.ts";

/** Marks routes as ours: no others are ever removed. */
export const ROUTE_PROTOCOL = "91";

export interface OverlayChanges {
  /** In this order. */
  readonly ip: readonly string[];
  readonly bridge: readonly string[];
}

const NO_TUNNEL: Pick<Overlay, "neighbours" | "ends"> = { neighbours: [], ends: [] };

export function overlayChanges(found: Overlay, want: Overlay): OverlayChanges {
  const keeps = found.tunnel !== undefined && want.tunnel !== undefined && isSameEnd(found.tunnel, want.tunnel);
  // Routes through a device are removed with it.
  const routes = keeps ? found.routes : found.routes.filter(({ device }) => device !== DEVICE);
  const { neighbours, ends } = keeps ? found : NO_TUNNEL;
  const removed = without(routes, want.routes);
  const dev = `dev ${DEVICE}`;
  return {
    ip: [
      ...removed.map((each) => `route delete ${routeText(each)}`),
      ...tunnelLines(found.tunnel, want.tunnel, keeps),
      ...(want.tunnel === undefined
        ? []
        : without(neighbours, want.neighbours).map(({ address }) => `neighbour delete ${address} ${dev}`)),
      ...without(want.neighbours, neighbours).map(
        ({ address, mac }) => `neighbour replace ${address} lladdr ${mac} nud permanent ${dev}`,
      ),
      ...without(want.routes, routes).map((each) => `route replace ${routeText(each)}`),
    ],
    bridge:
      want.tunnel === undefined
        ? []
        : [
            ...without(ends, want.ends).map(({ mac, address }) => `fdb delete ${mac} ${dev} dst ${address} self`),
            ...without(want.ends, ends).map(
              ({ mac, address }) => `fdb replace ${mac} ${dev} dst ${address} self permanent`,
            ),
          ],
  };
}

function tunnelLines(found: Tunnel | undefined, want: Tunnel | undefined, keeps: boolean): string[] {
  const removal = found !== undefined && !keeps ? [`link delete ${DEVICE}`] : [];
  if (want === undefined) return removal;
  const { local, mac, mtu, addresses } = want;
  const made = `link add ${DEVICE} address ${mac} mtu ${mtu} type vxlan id ${VNI} local ${local} dstport ${PORT} nolearning`;
  const had = keeps ? (found?.addresses ?? []) : [];
  return [
    ...removal,
    ...(keeps ? [] : [made]),
    ...(keeps && found?.mtu !== mtu ? [`link set ${DEVICE} mtu ${mtu}`] : []),
    ...without(had, addresses).map((address) => `address delete ${whole(address)} dev ${DEVICE}`),
    ...without(addresses, had).map((address) => `address replace ${whole(address)} dev ${DEVICE}`),
    ...(keeps ? [] : [`link set ${DEVICE} up`]),
  ];
}

function isSameEnd(a: Tunnel, b: Tunnel): boolean {
  return a.local === b.local && a.mac === b.mac;
}

function routeText({ cidr, via, device }: PodRoute): string {
  return `${cidr} via ${via} dev ${device}${device === DEVICE ? " onlink" : ""} proto ${ROUTE_PROTOCOL}`;
}

function whole(address: string): string {
  return address.includes(":") ? `${address}/128 nodad` : `${address}/32`;
}

/** Elements of the first list that are not in the second. */
function without<T>(all: readonly T[], others: readonly T[]): T[] {
  const known = new Set(others.map((each) => JSON.stringify(each)));
  return all.filter((each) => !known.has(JSON.stringify(each)));
}
