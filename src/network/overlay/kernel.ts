/** Reads the links of a node, and the routes of ours that exist, with `ip` and `bridge`. */
import type { Program } from "../kernel/program.ts";
import { ROUTE_PROTOCOL } from "./changes.ts";
import type { Link, Overlay } from "./plan.ts";
import { DEVICE } from "./vtep.ts";

interface LinkJson {
  readonly ifname?: string;
  readonly mtu?: number;
  readonly address?: string;
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number; readonly scope?: string }[];
  readonly linkinfo?: {
    readonly info_data?: { readonly local?: string; readonly local6?: string; readonly id?: number };
  };
}

export interface FoundNetwork {
  readonly links: readonly Link[];
  readonly overlay: Overlay;
}

export async function readNetwork(run: Program, signal: AbortSignal): Promise<FoundNetwork> {
  const json = async <T>(command: string, ...args: string[]): Promise<readonly T[]> =>
    JSON.parse((await run(command, ["-j", ...args], "", signal)) || "[]") as readonly T[];
  const found = await json<LinkJson>("ip", "-d", "address", "show");
  const device = found.find(({ ifname }) => ifname === DEVICE);
  const found4and6 = [
    ...(await json<RouteJson>("ip", "-4", "route", "show", "proto", ROUTE_PROTOCOL)),
    ...(await json<RouteJson>("ip", "-6", "route", "show", "proto", ROUTE_PROTOCOL)),
  ];
  const routes = found4and6.map(({ dst, gateway: via = "", dev = "" }) => ({
    cidr: withLength(dst),
    via,
    device: dev,
  }));
  const links = found
    .filter(({ ifname }) => ifname !== DEVICE)
    .map(({ ifname: name = "", mtu = 1500, addr_info = [] }) => ({
      name,
      mtu,
      addresses: addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    }));
  if (device === undefined) return { links, overlay: { routes, neighbours: [], ends: [] } };
  const neighbours = await json<{ dst: string; lladdr?: string; state?: readonly string[] }>(
    ...(["ip", "neighbour", "show", "dev", DEVICE] as const),
  );
  const ends = await json<{ mac: string; dst?: string }>("bridge", "fdb", "show", "dev", DEVICE);
  const { local, local6 } = device.linkinfo?.info_data ?? {};
  const tunnel = {
    local: local ?? local6 ?? "",
    mac: device.address ?? "",
    mtu: device.mtu ?? 0,
    addresses: (device.addr_info ?? []).flatMap(({ local: own, scope }) =>
      own === undefined || scope === "link" ? [] : [own],
    ),
  };
  return {
    links,
    overlay: {
      routes,
      tunnel,
      neighbours: neighbours
        .filter(({ state }) => state?.includes("PERMANENT"))
        .map(({ dst: address, lladdr: mac = "" }) => ({ address, mac })),
      ends: ends.flatMap(({ mac, dst: address }) => (address === undefined ? [] : [{ mac, address }])),
    },
  };
}

interface RouteJson {
  readonly dst: string;
  readonly gateway?: string;
  readonly dev?: string;
}

/** `ip` shows a route to a single address without its prefix length. */
function withLength(dst: string): string {
  return dst.includes("/") ? dst : `${dst}/${dst.includes(":") ? 128 : 32}`;
}
